internal import WebServices

/// A reader of the server's web courier, from which a client fetches its notifications without
/// APNs.
///
/// The client polls the courier: it sends a request, and the server answers when there is a
/// notification or after some time. ``CourierPoll`` decides the next action, and this class carries
/// it out.
///
/// Only one task at a time may call ``read(_:)``.
final class CourierListener: Sendable {
  /// The number of seconds after which a poll without a byte of an answer ends. Petrel's server
  /// answers a poll after 30 seconds by default.
  static let pollTimeout: TimeInterval = 120
  /// The number of seconds without a byte after which a request for a token fails.
  private static let requestTimeout: TimeInterval = 60
  /// The queue on which ``WebServicesClient/note(_:toRequestWith:)`` runs, because it can write to
  /// the disk.
  private static let queue = DispatchQueue(label: "petrel.courier-listener")

  private let client: WebServicesClient
  /// The state of this reader; the lock protects it.
  private let poll = Locked(CourierPoll())
  /// Ends the note that an answer is handled; nil if none is.
  private let endNote: Locked<(@Sendable () -> Void)?>

  init(client: WebServicesClient) {
    self.client = client
    endNote = Locked(client.transport.expectRequests())
  }

  deinit { endNote.withLock { $0.take() }?() }

  /// Passes events to `pass` until it returns false, or the task is cancelled.
  ///
  /// - Throws: A `CKError` after which another attempt would fail too.
  func read(_ pass: (CourierHub.Event) -> Bool) async throws(CKError) {
    defer { endNote.withLock { $0.take() }?() }
    var action = handle(.proceed)
    while true {
      switch action {
      case .reportConnection:
        guard pass(.connected) else { return }
        action = handle(.proceed)
      case .deliver(let body):
        if let userInfo = CKNotification.userInfo(parsing: body) {
          guard pass(.notification(userInfo)) else { return }
          action = handle(.proceed)
        } else {
          action = handle(
            .failed(CKError(.internalError, "the web courier's answer is not a JSON object")))
        }
      case .fail(let error):
        if Task.isCancelled { return }
        throw error
      case .create, .register, .poll, .wait:
        endNote.withLock { $0.take() }?()
        if Task.isCancelled { return }
        let event = await perform(action)
        // A request that was cancelled is no failure of the courier. An answer that came all the same
        // may have a notification, which the receivers get at once.
        if Task.isCancelled, case .failed = event { return }
        action = handle(event)
      }
    }
  }

  private func handle(_ event: CourierPoll.Event) -> CourierPoll.Action {
    poll.withLock { $0.handle(event, jitter: .random(in: 0...1)) }
  }

  // MARK: Actions

  private func perform(_ action: CourierPoll.Action) async -> CourierPoll.Event {
    do throws(CKError) {
      switch action {
      case .create:
        let answer = try await tokens("create", token: nil)
        return .created(
          token: answer.apnsToken, url: answer.webcourierURL.flatMap { URL(string: $0) })
      case .register(let token):
        _ = try await tokens("register", token: token)
        return .registered
      case .poll(let url, let eventID):
        return try await self.poll(url, after: eventID)
      case .wait(let seconds):
        return await wait(seconds)
      case .reportConnection, .deliver, .fail:
        return .proceed
      }
    } catch {
      return .failed(error)
    }
  }

  private func tokens(
    _ verb: String, token: String?
  ) async throws(CKError) -> TokenResponse {
    let call = ServiceCall.tokens(verb, token: token, configuration: client.configuration)
    let request = client.request(for: call, timeout: Self.requestTimeout)
    let response = try await send(request).get(orThrow: CKError.init)
    await withCheckedContinuation { done in
      // `note` can write to the disk, which would block a thread of Swift's task pool.
      Self.queue.async { [client] in
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
    _ url: URL, after eventID: String
  ) async throws(CKError) -> CourierPoll.Event {
    let request = TransportRequest(
      method: .get, target: .courier(url, lastEventID: eventID), body: nil,
      timeout: Self.pollTimeout)
    switch await send(request) {
    case .success(let response):
      return .polled(
        status: response.status, body: response.body, eventID: response.headers["event-id"])
    case .failure(let failure) where failure.kind == .timedOut: return .timedOut
    case .failure(let failure): throw CKError(failure)
    }
  }

  private func wait(_ seconds: TimeInterval) async -> CourierPoll.Event {
    // A cancelled task ends the sleep early, and the listener's work then.
    try? await Task.sleep(for: .seconds(seconds))
    return .proceed
  }

  /// Sends a request. Cancelling the task cancels the request.
  private func send(
    _ request: TransportRequest
  ) async -> Result<TransportResponse, TransportFailure> {
    let cancellation = Locked<(@Sendable () -> Void)?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let cancel = client.transport.send(request) { [client, endNote] result in
          endNote.withLock { $0 = client.transport.expectRequests() }
          continuation.resume(returning: result)
        }
        cancellation.withLock { $0 = cancel }
        // The task may have been cancelled before `cancellation` was set.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancellation.withLock { $0 }?()
    }
  }
}

extension ServiceCall {
  /// Makes a call of `tokens/create` or `tokens/register` for this device.
  ///
  /// - Parameters:
  ///   - apnsEnvironment: The environment of APNs; nil means the environment of the configuration.
  ///   - bundleID: The bundle ID of the app that the token belongs to; nil for none.
  static func tokens(
    _ verb: String, token: String?, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    bundleID: String? = nil, configuration: PetrelConfiguration
  ) -> ServiceCall {
    let environment = apnsEnvironment ?? configuration.environment
    let request = TokenRequest(
      apnsEnvironment: environment == .production ? .production : .development, apnsToken: token,
      bundleID: bundleID, clientID: configuration.deviceID)
    return ServiceCall(operation: "tokens/\(verb)", scope: nil, body: request.body)
  }
}

extension Result {
  func get<Other: Error>(orThrow convert: (Failure) -> Other) throws(Other) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let error): throw convert(error)
    }
  }
}
