/// The exchange of one call with the server: all attempts until an answer or the last failure.
///
/// The exchange sends the call and repeats it as ``OperationRetryPolicy`` decides. It ends at the resource
/// timeout and when it is cancelled. All its work runs on `queue`, a serial queue, so it needs no
/// lock.
final class ServiceExchange: @unchecked Sendable {
  /// The limits of an exchange.
  struct Limits: Sendable {
    /// The timeout of one attempt: the seconds without a byte in either direction.
    var request: TimeInterval
    /// The seconds for all attempts and pauses together; nil means no limit.
    var resource: TimeInterval?
    /// Whether to try again if the network fails or the server is busy.
    var isPatient: Bool
  }

  /// An answer of the server with a status of 200–299.
  struct Answer: Sendable {
    /// The body; empty after a download to a file.
    var body: Data
    /// Whether an earlier attempt may have been carried out already.
    var mayRepeatWork: Bool
  }

  private let client: WebServicesClient
  private let call: ServiceCall
  private let limits: Limits
  private let queue: DispatchQueue
  private var completion: ((Result<Answer, CKError>) -> Void)?
  private var policy: OperationRetryPolicy
  private let began = DispatchTime.now()
  private var deadline: (any DispatchSourceTimer)?
  private var pause: (any DispatchSourceTimer)?
  private var cancelRequest: (@Sendable () -> Void)?
  private var sentToken: String?

  /// Makes an exchange. `completion` is called once, on `queue`.
  init(
    client: WebServicesClient, call: ServiceCall, limits: Limits, queue: DispatchQueue,
    completion: @escaping (Result<Answer, CKError>) -> Void
  ) {
    self.client = client
    self.call = call
    self.limits = limits
    self.queue = queue
    self.completion = completion
    policy = OperationRetryPolicy(
      isPatient: limits.isPatient, resourceTimeout: limits.resource)
  }

  /// Starts the exchange. Call this method and ``cancel()`` on `queue`.
  func start() {
    if let resource = limits.resource {
      deadline = timer(after: resource) { [weak self] in
        self?.finish(
          .failure(
            CKError(.networkFailure, "the operation did not end within \(resource) seconds")))
      }
    }
    attempt()
  }

  /// Call this method on `queue`.
  func cancel() {
    finish(.failure(CKError(.operationCancelled, "the operation was cancelled")))
  }

  private func attempt() {
    let completion = { @Sendable [queue] (result: Result<TransportResponse, TransportFailure>) in
      queue.async { self.handle(result) }
    }
    guard let transfer = call.transfer else {
      let request = client.request(for: call, timeout: limits.request)
      sentToken = request.webAuthToken
      cancelRequest = client.transport.send(request, completion: completion)
      return
    }
    cancelRequest = client.transport.transfer(
      AssetTransfer(transfer.direction, at: transfer.url, timeout: limits.request),
      progress: { [queue] count in
        queue.async { self.note(count, of: transfer) }
      }, completion: completion)
  }

  private func handle(_ result: Result<TransportResponse, TransportFailure>) {
    guard completion != nil else { return }
    switch result {
    case .success(let response):
      if call.formerToken == nil { client.note(response, toRequestWith: sentToken) }
      if (200..<300).contains(response.status) {
        finish(.success(Answer(body: response.body, mayRepeatWork: policy.mayRepeatWork)))
      } else {
        let error = CKError(response)
        decide(OperationRetryPolicy.Failure(error), error)
      }
    case .failure(let failure):
      decide(OperationRetryPolicy.Failure(failure), CKError(failure))
    }
  }

  /// Reports the progress of a transfer. If the receiver of the progress returns an error, the
  /// exchange ends with it.
  private func note(_ count: Int64, of transfer: ServiceCall.Transfer) {
    guard completion != nil, let error = transfer.progress(count) else { return }
    finish(.failure(error))
  }

  private func decide(_ failure: OperationRetryPolicy.Failure, _ error: CKError) {
    let elapsed = Double(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds) / 1e9
    switch policy.handle(failure, elapsed: elapsed, jitter: .random(in: 0...1)) {
    case .giveUp:
      finish(.failure(error))
    case .retry(let delay):
      pause = timer(after: delay) { [weak self] in self?.attempt() }
    }
  }

  private func finish(_ result: Result<Answer, CKError>) {
    guard let completion else { return }
    self.completion = nil
    deadline?.cancel()
    pause?.cancel()
    cancelRequest?()
    completion(result)
  }

  private func timer(
    after seconds: TimeInterval, _ action: @escaping () -> Void
  ) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: action)
    timer.schedule(deadline: .now() + seconds)
    timer.resume()
    return timer
  }
}

extension OperationRetryPolicy.Failure {
  init(_ failure: TransportFailure) {
    switch failure.kind {
    case .offline, .unreachable: self = .notDelivered
    case .timedOut, .answerLost: self = .outcomeUnknown
    case .unreadableFile, .unwritableFile, .cancelled: self = .final
    }
  }

  init(_ error: CKError) {
    switch error.code {
    case .requestRateLimited, .serviceUnavailable, .zoneBusy:
      self = .busy(retryAfter: error.retryAfterSeconds)
    case .serverResponseLost:
      self = .outcomeUnknown
    default:
      self = .final
    }
  }
}
