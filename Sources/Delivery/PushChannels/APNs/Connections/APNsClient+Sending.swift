import CloudKitModel
import Cryptography
import HTTP2Transport

/// The sending of pushes and the handling of answers. All methods run on the loop's thread.
extension APNsClient {
  /// The changes of the metrics since they were last published. Numbers may be negative.
  struct LoopEvents {
    /// The number of pushes that left the queue, less those that were put back.
    var noLongerWaiting = 0
    /// The number of pushes that were sent, less those that ended.
    var sent = 0
    /// The number of pushes that APNs accepted.
    var accepted = 0
    /// The number of pushes that APNs answered with another status.
    var rejected = 0
    /// The number of pushes that were returned as not sent.
    var notSent = 0
    /// The number of pushes without an answer.
    var unknown = 0
    /// The number of attempts to connect.
    var connections = 0
    /// The reason of the last end of a connection; `nil` if none ended.
    var end: String?
  }

  /// The number of times that an unprocessed push is given to a connection before it is returned.
  private static let greatestAttempts = 3

  /// Collects new pushes, gives as many to the connections as these can take, and reports the rest
  /// to the pool.
  func pump() {
    queue.append(contentsOf: intake.collect())
    if pool.isClosed { failWaiting("the client is closed") }
    if !queue.isEmpty { sendWaiting() }
    handle(.waiting(queue.count))
    publishMetrics()
  }

  /// Runs ``pump()`` once after all events of this round of the loop.
  func schedulePump() {
    guard !isPumpScheduled else { return }
    isPumpScheduled = true
    loop.execute {
      self.isPumpScheduled = false
      self.pump()
    }
  }

  /// Returns all waiting pushes as not sent.
  func failWaiting(_ reason: String) {
    queue.append(contentsOf: intake.collect())
    let items = queue.removeAll()
    events.noLongerWaiting += items.count
    events.notSent += items.count
    // The metrics come first, so that a caller finds a returned push in them.
    publishMetrics()
    for item in items { item.completion(.notSent(reason)) }
  }

  /// Sends waiting pushes while a connection has capacity. Without a provider token, all of them
  /// fail.
  private func sendWaiting() {
    guard pool.next != nil else { return }
    let token: String?
    switch configuration.authentication {
    case .certificate:
      token = nil
    case .tokens(let source):
      do throws(CryptographyError) {
        token = try source.token(at: clock())
      } catch {
        return failWaiting("the provider token cannot be created: \(error)")
      }
      guard token != nil else {
        return failWaiting("APNs asked for fewer provider tokens, and the last one has expired")
      }
    }
    let authorization = token.map { "bearer \($0)" }
    var number = 0
    var connection: HTTP2ClientConnection?
    // `pool.next` is evaluated for each push, because sending may show that the connection is gone.
    while !queue.isEmpty, let next = pool.next {
      if next.number != number {
        number = next.number
        connection = connections[number]
      }
      guard let connection, let item = queue.popFirst() else { return }
      _ = pool.handle(.sent(number), at: loop.now)
      events.noLongerWaiting += 1
      events.sent += 1
      item.attempts += 1
      item.connection = number
      item.token = token
      connection.send(HTTP2Request(item.push, authorization: authorization)) { outcome in
        self.finish(item, outcome)
      }
    }
  }

  /// Handles the end of a request: completes the push, or puts it back into the queue.
  ///
  /// - A push whose token has expired is repeated once, if another token is available.
  /// - A push that APNs certainly did not process is repeated, up to three attempts.
  /// - Any other status 403 also retires the connection.
  private func finish(_ item: PushItem, _ outcome: Result<HTTP2Response, HTTP2Error>) {
    let number = item.connection
    events.sent -= 1
    schedulePump()
    switch outcome {
    case .success(let response):
      let result = APNsResult(response)
      _ = pool.handle(.finished(number, status: response.status), at: loop.now)
      if let token = item.token, case .tokens(let source) = configuration.authentication {
        if result.saysTooManyTokens { source.complained(at: clock()) }
        if result.saysTokenExpired, !item.hadTokenRenewed, !pool.isClosed,
          source.rejected(token, at: clock())
        {
          item.hadTokenRenewed = true
          return putBack(item)
        }
      }
      if !result.saysTokenExpired, case .answered(403, let reason, _, _, _) = result {
        refused(number, reason: "APNs refused the sender: \(reason ?? "without a reason")")
      }
      complete(item, result)
    case .failure(let error):
      _ = pool.handle(.finished(number, status: nil), at: loop.now)
      if error.isSafeToRepeat, item.attempts < Self.greatestAttempts, !pool.isClosed {
        return putBack(item)
      }
      complete(item, APNsResult(error))
    }
  }

  /// Puts a push back into the queue. The streams of the connections bound the number of these, in
  /// addition to the limit of the intake.
  private func putBack(_ item: PushItem) {
    events.noLongerWaiting -= 1
    queue.append(item)
  }

  /// Counts a result and calls the completion.
  private func complete(_ item: PushItem, _ result: APNsResult) {
    switch result {
    case .answered(200, _, _, _, _): events.accepted += 1
    case .answered: events.rejected += 1
    case .notSent: events.notSent += 1
    case .unknown: events.unknown += 1
    }
    item.completion(result)
  }

  /// Adds the changes to the published metrics.
  func publishMetrics() {
    let events = events
    let (isConnected, openConnections) = (pool.isConnected, pool.connections.count)
    self.events = LoopEvents()
    intake.update { metrics in
      metrics.waiting -= events.noLongerWaiting
      metrics.inFlight += events.sent
      metrics.accepted += events.accepted
      metrics.rejected += events.rejected
      metrics.notSent += events.notSent
      metrics.unknown += events.unknown
      metrics.connections += events.connections
      metrics.isConnected = isConnected
      metrics.openConnections = openConnections
      if let end = events.end { metrics.lastEnd = end }
    }
  }
}
