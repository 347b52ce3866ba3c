import CloudKitModel
import Cryptography
import HTTP2Transport

/// The sending of pushes and the handling of answers. All methods run on the event loop's thread.
extension APNsClient {
  /// The changes of the metrics since they were last published. Numbers may be negative.
  struct LoopEvents {
    /// The number of pushes that left the queue, minus the number of those that were put back.
    var noLongerWaiting = 0
    /// The number of requests that were sent, minus the number of those that ended.
    var sent = 0
    /// The number of pushes that APNs accepted.
    var accepted = 0
    /// The number of pushes that APNs answered with a status other than 200.
    var rejected = 0
    /// The number of pushes that ended with ``APNsResult/notSent(_:)``.
    var notSent = 0
    /// The number of pushes that ended with ``APNsResult/unknown(_:)``.
    var unknown = 0
    /// The number of attempts to connect.
    var connections = 0
    /// The reason for the last end of a connection; `nil` if no connection ended.
    var end: String?
  }

  /// The number of attempts after which a push that APNs did not process is no longer put back into
  /// the queue.
  private static let greatestAttempts = 3

  /// Collects new pushes from the intake, sends as many waiting pushes as the connections can take,
  /// and reports the number of those that still wait to the pool.
  func pump() {
    queue.append(contentsOf: intake.collect())
    if pool.isClosed { failWaiting("the client is closed") }
    if !queue.isEmpty { sendWaiting() }
    handle(.waiting(queue.count))
    publishMetrics()
  }

  /// Runs ``pump()`` once after the other events that the loop handles now, also if the method is
  /// called several times.
  func schedulePump() {
    guard !isPumpScheduled else { return }
    isPumpScheduled = true
    loop.execute {
      self.isPumpScheduled = false
      self.pump()
    }
  }

  /// Answers all waiting pushes with ``APNsResult/notSent(_:)``.
  func failWaiting(_ reason: String) {
    queue.append(contentsOf: intake.collect())
    let items = queue.removeAll()
    events.noLongerWaiting += items.count
    events.notSent += items.count
    // The metrics are published first, so that the completion of a push finds the push counted.
    publishMetrics()
    for item in items { item.completion(.notSent(reason)) }
  }

  /// Sends waiting pushes while a connection has capacity. If a provider token is needed and cannot
  /// be had, all waiting pushes are answered as not sent.
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
    // The loop reads `pool.next` again for each push, because a send may show that the connection
    // is gone.
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

  /// Handles the end of a request: calls the push's completion, or puts the push back into the
  /// queue.
  ///
  /// - A push whose provider token APNs reports as expired is repeated once, if another token is
  ///   available.
  /// - A push that APNs certainly did not process is repeated, up to three attempts in all.
  /// - After any other answer with status 403, the connection gets no more pushes and closes.
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

  /// Puts a push back into the queue. The queue may then exceed the limit of the intake, but at
  /// most by the number of streams, because each such push had a stream.
  private func putBack(_ item: PushItem) {
    events.noLongerWaiting -= 1
    queue.append(item)
  }

  /// Counts a result and calls the push's completion.
  private func complete(_ item: PushItem, _ result: APNsResult) {
    switch result {
    case .answered(200, _, _, _, _): events.accepted += 1
    case .answered: events.rejected += 1
    case .notSent: events.notSent += 1
    case .unknown: events.unknown += 1
    }
    item.completion(result)
  }

  /// Adds the changes since the last call to the published metrics.
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
