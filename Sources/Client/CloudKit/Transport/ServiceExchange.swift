/// Carries one call to its answer: sends it, waits and sends it again as the retry policy says, and
/// stops at the resource timeout or when cancelled.
///
/// Everything happens on `queue`, which must be serial; nothing needs a lock or a `Task`.
final class ServiceExchange: @unchecked Sendable {
  struct Limits: Sendable {
    /// Seconds for one attempt.
    var request: TimeInterval
    /// Seconds for all attempts together; nil means no limit.
    var resource: TimeInterval?
    /// Whether to try again when the network or the server is not ready.
    var isPatient: Bool
  }

  struct Answer: Sendable {
    var body: Data
    /// Whether an earlier attempt may have done the work already.
    var mayRepeatWork: Bool
  }

  private let client: WebServicesClient
  private let call: ServiceCall
  private let limits: Limits
  private let queue: DispatchQueue
  private var completion: ((Result<Answer, CKError>) -> Void)?
  private var policy: RetryPolicy
  private let began = DispatchTime.now()
  private var deadline: (any DispatchSourceTimer)?
  private var pause: (any DispatchSourceTimer)?
  private var cancelRequest: (@Sendable () -> Void)?
  /// The web auth token of the attempt under way.
  private var sentToken: String?

  init(
    client: WebServicesClient, call: ServiceCall, limits: Limits, queue: DispatchQueue,
    completion: @escaping (Result<Answer, CKError>) -> Void
  ) {
    self.client = client
    self.call = call
    self.limits = limits
    self.queue = queue
    self.completion = completion
    policy = RetryPolicy(
      isPatient: limits.isPatient, resourceTimeout: limits.resource)
  }

  /// Begins. Call it, and ``cancel()``, on the queue.
  func start() {
    if let resource = limits.resource {
      deadline = timer(after: resource) { [weak self] in
        self?.finish(
          .failure(
            CKError(.networkFailure, "the operation was not done within \(resource) seconds")))
      }
    }
    attempt()
  }

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
      client.note(response, toRequestWith: sentToken)
      if (200..<300).contains(response.status) {
        finish(.success(Answer(body: response.body, mayRepeatWork: policy.mayRepeatWork)))
      } else {
        let error = CKError(response)
        decide(RetryPolicy.Failure(error), error)
      }
    case .failure(let failure):
      decide(RetryPolicy.Failure(failure), CKError(failure))
    }
  }

  private func note(_ count: Int64, of transfer: ServiceCall.Transfer) {
    guard completion != nil, let error = transfer.progress(count) else { return }
    finish(.failure(error))
  }

  private func decide(_ failure: RetryPolicy.Failure, _ error: CKError) {
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

extension RetryPolicy.Failure {
  init(_ failure: TransportFailure) {
    switch failure.kind {
    case .offline, .unreachable: self = .notDelivered
    case .timedOut, .answerLost: self = .outcomeUnknown
    case .unreadableFile, .unwritableFile, .cancelled: self = .final
    }
  }

  /// What an error that the server answered means for another attempt.
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
