internal import WebServices

/// Does what ``CourierPoll`` decides.
final class CourierListener: Sendable {
  /// Seconds without an answer before a poll counts as dead. Servers hold one for up to a minute.
  static let pollTimeout: TimeInterval = 120
  private static let requestTimeout: TimeInterval = 60
  private static let queue = DispatchQueue(label: "petrel.courier-listener")

  private let client: Result<WebServicesClient, CKError>
  private let poll = Locked(CourierPoll())

  init(client: Result<WebServicesClient, CKError>) {
    self.client = client
  }

  /// Comes back when the courier knows this device.
  func register() async throws {
    let client = try client.get()
    var action = handle(.proceed)
    while true {
      if case .poll = action { return }
      action = handle(try await perform(action, with: client))
    }
  }

  /// The next notification; nil when the task is cancelled.
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
          .failed(CKError(.internalError, "the web courier's answer is no JSON object")))
      }
    } catch is CancellationError {
      return nil
    }
  }

  private func handle(_ event: CourierPoll.Event) -> CourierPoll.Action {
    poll.withLock { $0.handle(event, jitter: .random(in: 0...1)) }
  }

  // MARK: Actions

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

  private func tokens(
    _ verb: String, token: String?, _ client: WebServicesClient
  ) async throws(CKError) -> TokenResponse {
    let call = ServiceCall.tokens(verb, token: token, configuration: client.configuration)
    let request = client.request(for: call, timeout: Self.requestTimeout)
    let response = try await Self.send(request, over: client.transport).get(orThrow: CKError.init)
    await withCheckedContinuation { done in
      // It may write to the disk.
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

  private func wait(_ seconds: TimeInterval) async -> CourierPoll.Event {
    // A cancellation ends the sleep, and the loop with it.
    try? await Task.sleep(for: .seconds(seconds))
    return .proceed
  }

  /// Sends a request; cancelling the task cancels it.
  private static func send(
    _ request: TransportRequest, over transport: any WebServicesTransport
  ) async -> Result<TransportResponse, TransportFailure> {
    let cancellation = Locked<(@Sendable () -> Void)?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let cancel = transport.send(request) { continuation.resume(returning: $0) }
        cancellation.withLock { $0 = cancel }
        // The task may have been cancelled before there was a request to cancel.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancellation.withLock { $0 }?()
    }
  }
}

extension ServiceCall {
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
  /// The value, or its error as another one.
  func get<Other: Error>(orThrow convert: (Failure) -> Other) throws(Other) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let error): throw convert(error)
    }
  }
}
