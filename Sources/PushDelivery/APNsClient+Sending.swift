import CloudKitModel
import Cryptography
import HTTP2Transport

/// From waiting to answered. All of it runs on the loop's thread.
extension APNsClient {
  /// What happened on the loop since the figures were last shown.
  struct News {
    var noLongerWaiting = 0
    var sent = 0
    var accepted = 0
    var rejected = 0
    var notSent = 0
    var unknown = 0
    var connections = 0
    var end: String?
  }

  /// How often a push that was not processed is given to a connection before it is given back.
  private static let greatestAttempts = 3

  /// Takes in what came, and gives the connections as much as they may have.
  func pump() {
    queue.append(contentsOf: intake.collect())
    if pool.isClosed { failWaiting("the client is closed") }
    if !queue.isEmpty { sendWaiting() }
    tell(.waiting(queue.count))
    showNews()
  }

  /// Once for all that happens in this round of the loop.
  func schedulePump() {
    guard !isPumpScheduled else { return }
    isPumpScheduled = true
    loop.execute {
      self.isPumpScheduled = false
      self.pump()
    }
  }

  func failWaiting(_ reason: String) {
    queue.append(contentsOf: intake.collect())
    let items = queue.removeAll()
    news.noLongerWaiting += items.count
    news.notSent += items.count
    for item in items { item.completion(.notSent(reason)) }
  }

  private func sendWaiting() {
    guard let first = pool.next else { return }
    let token: String?
    switch configuration.authentication {
    case .certificate:
      token = nil
    case .tokens(let source):
      do throws(CryptographyError) {
        token = try source.token(at: clock())
      } catch {
        return failWaiting("the provider token cannot be made: \(error)")
      }
      guard token != nil else {
        return failWaiting("APNs asked for fewer provider tokens, and the last one has expired")
      }
    }
    let authorization = token.map { "bearer \($0)" }
    var next: (number: Int, capacity: Int)? = first
    while let (number, capacity) = next, let connection = connections[number], !queue.isEmpty {
      for _ in 0..<capacity {
        guard var item = queue.popFirst() else { break }
        _ = pool.handle(.sent(number), at: loop.now)
        news.noLongerWaiting += 1
        news.sent += 1
        item.attempts += 1
        connection.send(HTTP2Request(item.push, authorization: authorization)) { [item] outcome in
          self.finish(item, token: token, connection: number, outcome)
        }
      }
      next = pool.next
    }
  }

  private func finish(
    _ item: PushItem, token: String?, connection number: Int,
    _ outcome: Result<HTTP2Response, HTTP2Error>
  ) {
    news.sent -= 1
    schedulePump()
    switch outcome {
    case .success(let response):
      let result = APNsResult(response)
      _ = pool.handle(.finished(number, status: response.status), at: loop.now)
      if let token, case .tokens(let source) = configuration.authentication {
        if result.saysTooManyTokens { source.complained(at: clock()) }
        if result.saysTokenExpired, !item.hadTokenRenewed, !pool.isClosed,
          source.rejected(token, at: clock())
        {
          var item = item
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

  /// There are never more of these than the connections have streams, beside what the intake let
  /// in.
  private func putBack(_ item: PushItem) {
    news.noLongerWaiting -= 1
    queue.append(item)
  }

  private func complete(_ item: PushItem, _ result: APNsResult) {
    switch result {
    case .answered(200, _, _, _, _): news.accepted += 1
    case .answered: news.rejected += 1
    case .notSent: news.notSent += 1
    case .unknown: news.unknown += 1
    }
    item.completion(result)
  }

  func showNews() {
    let news = news
    let (isConnected, openConnections) = (pool.isConnected, pool.connections.count)
    self.news = News()
    intake.update { metrics in
      metrics.waiting -= news.noLongerWaiting
      metrics.inFlight += news.sent
      metrics.accepted += news.accepted
      metrics.rejected += news.rejected
      metrics.notSent += news.notSent
      metrics.unknown += news.unknown
      metrics.connections += news.connections
      metrics.isConnected = isConnected
      metrics.openConnections = openConnections
      if let end = news.end { metrics.lastEnd = end }
    }
  }
}
