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
  }

  /// How often a push that was not processed is given to a connection before it is given back.
  private static let greatestAttempts = 3

  /// Takes in what came, and gives the connection as much as it may have.
  func pump() {
    queue.append(contentsOf: intake.collect())
    if state.phase == .closed { failWaiting("the client is closed") }
    if !queue.isEmpty { perform(state.handle(.work)) }
    if state.capacity > 0, !queue.isEmpty { sendWaiting() }
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

  func perform(_ action: APNsConnection.Action, reason: String = "") {
    switch action {
    case .none:
      break
    case .connect:
      connect()
    case .rest(let seconds):
      failWaiting(reason)
      loop.schedule(after: .seconds(seconds)) { [weak self] in
        guard let self else { return }
        _ = state.handle(.rested)
        pump()
      }
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
    guard let connection = connections[generation] else { return }
    let token: String
    do throws(CryptographyError) {
      token = try configuration.tokens.token(at: clock())
    } catch {
      return failWaiting("the provider token cannot be made: \(error)")
    }
    let authorization = "bearer \(token)"
    let generation = generation
    while state.capacity > 0, var item = queue.popFirst() {
      _ = state.handle(.sent)
      news.noLongerWaiting += 1
      news.sent += 1
      item.attempts += 1
      connection.send(HTTP2Request(item.push, authorization: authorization)) { [item] outcome in
        self.finish(item, token: token, generation: generation, outcome)
      }
    }
  }

  private func finish(
    _ item: PushItem, token: String, generation: Int,
    _ outcome: Result<HTTP2Response, HTTP2Error>
  ) {
    news.sent -= 1
    schedulePump()
    switch outcome {
    case .success(let response):
      let result = APNsResult(response)
      if generation == self.generation {
        _ = state.handle(.answered(status: response.status))
      }
      if result.saysTokenExpired, item.attempts == 1,
        configuration.tokens.rejected(token, at: clock()), state.phase != .closed
      {
        return putBack(item)
      }
      complete(item, result)
    case .failure(let error):
      if generation == self.generation { _ = state.handle(.failed) }
      if error.isSafeToRepeat, item.attempts < Self.greatestAttempts, state.phase != .closed {
        return putBack(item)
      }
      complete(item, APNsResult(error))
    }
  }

  /// There are never more of these than a connection has streams, beside what the intake let in.
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
    let (news, isConnected) = (news, state.phase == .proving || state.phase == .open)
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
    }
  }
}
