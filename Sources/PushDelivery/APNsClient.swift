import CloudKitModel
import HTTP2Transport
import Synchronization

/// Sends pushes to APNs over one HTTP/2 connection, in the name of one team.
///
/// The connection is opened by the first push and kept. When it ends, pushes that APNs certainly
/// did not process go over the next one; those whose fate is unknown are answered as such. Several
/// topics may use one client.
///
/// ```swift
/// let client = try APNsClient(configuration, loop: loop)
/// client.send(push) { result in … }
/// ```
public final class APNsClient: Sendable {
  public typealias Completion = @Sendable (APNsResult) -> Void

  private struct Item: Sendable {
    var push: Push
    var completion: Completion
    /// How often the push was given to a connection.
    var attempts = 0
    /// The provider token it was last sent with.
    var token = ""
    /// The connection it was last given to.
    var generation = 0
  }

  private struct State {
    var session = APNsSession()
    var issuer: ProviderTokenIssuer
    var waiting: [Item] = []
    var connection: HTTP2ClientConnection?
    /// Counts connections, so that events of an earlier one are told apart.
    var generation = 0
  }

  /// How often a push that was not processed is given to another connection before it is answered
  /// as not sent.
  private static let greatestAttempts = 3

  private let configuration: Configuration
  private let loop: EventLoop
  private let clock: @Sendable () -> Timestamp
  private let random: @Sendable () -> Double
  private let state: Mutex<State>

  /// - Parameters:
  ///   - loop: the loop that the connections live on; several clients may share one.
  ///   - random: numbers in 0 ..< 1, for the random part of delays.
  public init(
    _ configuration: Configuration, loop: EventLoop,
    clock: @escaping @Sendable () -> Timestamp = { .now },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.configuration = configuration
    self.loop = loop
    self.clock = clock
    self.random = random
    state = Mutex(
      State(
        issuer: ProviderTokenIssuer(
          key: configuration.key, keyID: configuration.keyID, teamID: configuration.teamID)))
  }

  /// Sends a push. The completion is called once and must not block.
  public func send(_ push: Push, completion: @escaping Completion) {
    let action: APNsSession.Action? = state.withLock { state in
      guard state.waiting.count < configuration.capacity else { return nil }
      state.waiting.append(Item(push: push, completion: completion))
      return state.session.handle(.work)
    }
    guard let action else {
      return completion(.notSent("\(configuration.capacity) pushes wait already"))
    }
    perform(action, reason: "the client is closed")
  }

  /// Pushes that wait for a connection or for the first answer on one.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Ends the connection once what is under way is answered. Pushes that wait, and later ones, are
  /// answered as not sent.
  public func close() {
    let (action, connection) = state.withLock { state in
      defer { state.connection = nil }
      return (state.session.handle(.close), state.connection)
    }
    perform(action, reason: "the client is closed")
    connection?.close(.whenAnswered)
  }

  // MARK: Actions

  private func perform(_ action: APNsSession.Action, reason: String) {
    switch action {
    case .none: break
    case .connect: connect()
    case .sendOne: sendOne()
    case .sendAll: sendAll()
    case .rest(let seconds):
      failWaiting(reason)
      loop.schedule(after: .milliseconds(Int64(seconds * 1000))) { [weak self] in
        self?.handle { .rested(hasWork: !$0.waiting.isEmpty) }
      }
    case .giveUp: failWaiting(reason)
    }
  }

  private func handle(
    reason: String = "", _ event: @Sendable (borrowing State) -> APNsSession.Event
  ) {
    let action = state.withLock { state in
      let event = event(state)
      return state.session.handle(event)
    }
    perform(action, reason: reason)
  }

  private func failWaiting(_ reason: String) {
    let items = state.withLock { state in
      defer { state.waiting.removeAll() }
      return state.waiting
    }
    for item in items { item.completion(.notSent(reason)) }
  }

  private func connect() {
    let generation = state.withLock { state in
      state.generation += 1
      return state.generation
    }
    var settings = HTTP2ClientConfiguration(
      host: configuration.host, port: configuration.port, trust: configuration.trust)
    settings.maximumWaitingRequests = configuration.capacity
    do {
      let connection = try HTTP2ClientConnection(settings, loop: loop) { [weak self] event in
        self?.handle(event, ofConnection: generation)
      }
      state.withLock { $0.connection = connection }
      connection.start()
    } catch {
      let random = random()
      handle(reason: error.reason) { _ in .ended(random: random, hasWork: true) }
    }
  }

  private func handle(_ event: HTTP2ClientConnection.Event, ofConnection generation: Int) {
    switch event {
    case .opened:
      let action = state.withLock { state in
        state.generation == generation ? state.session.handle(.opened) : .none
      }
      perform(action, reason: "")
    case .limitChanged:
      break
    case .goingAway(_, let code, _):
      ended(generation, reason: "APNs ended the connection: \(code)")
    case .closed(let error):
      ended(generation, reason: error?.reason ?? "APNs ended the connection")
    }
  }

  private func ended(_ generation: Int, reason: String) {
    let random = random()
    let action = state.withLock { state in
      // After a GOAWAY the end of the old connection is no news.
      guard state.generation == generation, state.connection != nil else {
        return APNsSession.Action.none
      }
      state.connection = nil
      return state.session.handle(.ended(random: random, hasWork: !state.waiting.isEmpty))
    }
    perform(action, reason: reason)
  }

  // MARK: Requests

  private func sendOne() {
    let item = state.withLock { state -> Item? in
      guard !state.waiting.isEmpty else {
        state.session.hadNothingToSend()
        return nil
      }
      return state.waiting.removeFirst()
    }
    if let item { give([item]) }
  }

  private func sendAll() {
    let items = state.withLock { state in
      defer { state.waiting.removeAll(keepingCapacity: true) }
      return state.waiting
    }
    give(items)
  }

  /// Gives pushes to the connection that is open.
  private func give(_ items: [Item]) {
    guard !items.isEmpty else { return }
    let now = clock()
    let (connection, generation, token) = state.withLock { state in
      (state.connection, state.generation, Result { try state.issuer.token(at: now) })
    }
    guard let connection else {
      // It ended in between; the items wait for the next one.
      return takeBack(items)
    }
    switch token {
    case .failure(let error):
      for item in items {
        item.completion(.notSent("the provider token cannot be made: \(error)"))
      }
      handle { _ in .failed }
    case .success(let token):
      let authorization = "bearer \(token)"
      for var item in items {
        item.attempts += 1
        item.token = token
        item.generation = generation
        let sent = item
        connection.send(Self.request(for: item.push, authorization: authorization)) {
          [weak self] result in
          self?.finish(sent, result)
        }
      }
    }
  }

  private func takeBack(_ items: [Item]) {
    let action = state.withLock { state in
      state.waiting.insert(contentsOf: items, at: 0)
      return state.session.handle(.work)
    }
    perform(action, reason: "the client is closed")
  }

  private func finish(_ item: Item, _ outcome: Result<HTTP2Response, HTTP2Error>) {
    switch outcome {
    case .success(let response):
      handle { _ in .answered }
      let result = APNsResult(response)
      let now = clock()
      if result.saysTokenExpired, item.attempts < Self.greatestAttempts,
        state.withLock({ $0.issuer.rejected(item.token, at: now) })
      {
        return takeBack([item])
      }
      item.completion(result)
    case .failure(let error):
      if Self.endsConnection(error) { ended(item.generation, reason: error.reason) }
      if error.isSafeToRepeat, item.attempts < Self.greatestAttempts, error.code != .queueFull {
        takeBack([item])
      } else {
        item.completion(APNsResult(error))
      }
      handle { _ in .failed }
    }
  }

  /// Whether the request failed with its whole connection. Its other requests fail too, and the
  /// connection's own word of its end may come after them.
  private static func endsConnection(_ error: HTTP2Error) -> Bool {
    ![.refused, .reset, .answerTooLarge, .queueFull].contains(error.code)
  }

  private static func request(for push: Push, authorization: String) -> HTTP2Request {
    var request = HTTP2Request(method: "POST", path: push.path, body: push.payload.bytes)
    request.headers.append("authorization", authorization)
    for (name, value) in push.headers {
      // What changes with each push would only push others out of the compression's table.
      request.headers.append(
        name, value, indexed: name != "apns-id" && name != "apns-expiration")
    }
    return request
  }
}
