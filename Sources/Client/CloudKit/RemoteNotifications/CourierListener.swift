internal import WebServices

/// A reader of the server's web courier: it carries out the actions of ``CourierPoll``.
///
/// The state is a value under a lock. Only one task at a time may call ``register()`` or
/// ``next()``.
final class CourierListener: Sendable {
  /// The number of seconds after which a poll without an answer is given up. Servers hold a poll
  /// for at most one minute.
  static let pollTimeout: TimeInterval = 120
  /// The number of seconds after which a request for a token fails.
  private static let requestTimeout: TimeInterval = 60
  /// The queue that notes web auth tokens, which can write to the disk.
  private static let queue = DispatchQueue(label: "petrel.courier-listener")

  private let client: Result<WebServicesClient, CKError>
  /// The state of the courier's reader; the lock protects it.
  private let poll = Locked(CourierPoll())

  init(client: Result<WebServicesClient, CKError>) {
    self.client = client
  }

  /// Makes and registers a token. Returns when the courier knows this device.
  ///
  /// - Throws: The `CKError` that waiting cannot repair, or `CancellationError`.
  func register() async throws {
    let client = try client.get()
    var action = handle(.proceed)
    while true {
      if case .poll = action { return }
      action = handle(try await perform(action, with: client))
    }
  }

  /// Returns the next notification as its `userInfo` dictionary. Returns nil if the task is
  /// cancelled.
  ///
  /// - Throws: The `CKError` that waiting cannot repair.
  func next() async throws -> [AnyHashable: Any]? {
    let client = try client.get()
    var action = handle(.proceed)
    do {
      while true {
        guard case .deliver(let body) = action else {
          action = handle(try await perform(action, with: client))
          continue
        }
        if let userInfo = CKNotification.userInfo(parsing: body) { return userInfo }
        action = handle(
          .failed(CKError(.internalError, "the web courier's answer is not a JSON object")))
      }
    } catch is CancellationError {
      return nil
    }
  }

  /// Passes an event to the state and returns the action that follows.
  private func handle(_ event: CourierPoll.Event) -> CourierPoll.Action {
    poll.withLock { $0.handle(event, jitter: .random(in: 0...1)) }
  }

  // MARK: Actions

  /// Carries out an action and returns its result as an event.
  ///
  /// - Throws: The error of `CourierPoll.Action.fail`, or `CancellationError`.
  private func perform(
    _ action: CourierPoll.Action, with client: WebServicesClient
  ) async throws -> CourierPoll.Event {
    do throws(CKError) {
      switch action {
      case .create:
        let answer = try await tokens("create", token: nil, client)
        return .created(
          token: answer.apnsToken, url: answer.webcourierURL.flatMap { URL(string: $0) })
      case .register(let token):
        _ = try await tokens("register", token: token, client)
        return .registered
      case .poll(let url):
        return try await self.poll(url, client)
      case .wait(let seconds):
        return await wait(seconds)
      case .deliver:
        return .proceed
      case .fail(let error):
        throw error
      }
    } catch {
      try Task.checkCancellation()
      if case .fail = action { throw error }
      return .failed(error)
    }
  }

  /// Sends a request of `tokens/…` and parses the answer.
  private func tokens(
    _ verb: String, token: String?, _ client: WebServicesClient
  ) async throws(CKError) -> TokenResponse {
    let call = ServiceCall.tokens(verb, token: token, configuration: client.configuration)
    let request = client.request(for: call, timeout: Self.requestTimeout)
    let response = try await Self.send(request, over: client.transport).get(orThrow: CKError.init)
    await withCheckedContinuation { done in
      // Noting the web auth token can write to the disk.
      Self.queue.async {
        client.note(response, toRequestWith: request.webAuthToken)
        done.resume()
      }
    }
    guard (200..<300).contains(response.status) else { throw CKError(response) }
    do throws(ServiceError) {
      return try TokenResponse(parsing: response.body)
    } catch {
      throw CKError(unreadableAnswer: error)
    }
  }

  /// Sends one poll to the courier.
  private func poll(
    _ url: URL, _ client: WebServicesClient
  ) async throws(CKError) -> CourierPoll.Event {
    let request = TransportRequest(
      method: .get, target: .courier(url), body: nil, timeout: Self.pollTimeout)
    switch await Self.send(request, over: client.transport) {
    case .success(let response): return .polled(status: response.status, body: response.body)
    case .failure(let failure) where failure.kind == .timedOut: return .timedOut
    case .failure(let failure): throw CKError(failure)
    }
  }

  /// Waits; a cancelled task stops waiting at once.
  private func wait(_ seconds: TimeInterval) async -> CourierPoll.Event {
    // The cancellation ends the sleep. The next action of the loop throws it.
    try? await Task.sleep(for: .seconds(seconds))
    return .proceed
  }

  /// Sends a request. Cancelling the task cancels the request.
  private static func send(
    _ request: TransportRequest, over transport: any WebServicesTransport
  ) async -> Result<TransportResponse, TransportFailure> {
    let cancellation = Locked<(@Sendable () -> Void)?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let cancel = transport.send(request) { continuation.resume(returning: $0) }
        cancellation.withLock { $0 = cancel }
        // The task can be cancelled before the request exists.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancellation.withLock { $0 }?()
    }
  }
}

extension ServiceCall {
  /// Returns a call of `tokens/create` or `tokens/register` for this device.
  ///
  /// - Parameters:
  ///   - verb: `create` or `register`.
  ///   - token: The token to register; nil for `create`.
  ///   - apnsEnvironment: The environment of APNs; nil means that of the configuration.
  static func tokens(
    _ verb: String, token: String?, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    configuration: PetrelConfiguration
  ) -> ServiceCall {
    let environment = apnsEnvironment ?? configuration.environment
    let request = TokenRequest(
      apnsEnvironment: environment == .production ? .production : .development, apnsToken: token,
      clientID: configuration.deviceID)
    return ServiceCall(operation: "tokens/\(verb)", scope: nil, body: request.body)
  }
}

extension Result {
  /// Returns the value, or throws the error that `convert` makes of the failure.
  func get<Other: Error>(orThrow convert: (Failure) -> Other) throws(Other) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let error): throw convert(error)
    }
  }
}
