internal import CloudKit
import Dispatch
import Foundation
internal import HTTPService
internal import Synchronization

/// The transport of one device's requests to its cloud in the same process. It passes complete HTTP
/// requests and answers, so the client and the server encode and decode them as over a network.
final class InProcessTransport: WebServicesTransport {
  /// The cloud, which lives as long as a container uses the transport.
  let cloud: TestCloud
  let user: String?
  let device: String
  let meetsFaults: Bool
  /// The base URL of the requests, ``TestCloud/serverURL``. No connection is made to it.
  let serverURL: URL

  init(cloud: TestCloud, user: String?, device: String, meetsFaults: Bool) {
    self.cloud = cloud
    self.user = user
    self.device = device
    self.meetsFaults = meetsFaults
    serverURL = TestCloud.serverURL
  }

  /// Sends a request. Calls the completion once: with the answer, or with a failure.
  ///
  /// - Returns: a closure that cancels the request, if it has not ended.
  func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    guard let message = HTTPRequest(request, below: serverURL) else {
      completion(.failure(TransportFailure(noURLOf: request)))
      return {}
    }
    let isPoll = if case .courier = request.target { true } else { false }
    let exchange = InProcessExchange(completion)
    // A poll is open most of the time, so `settle()` must not wait for its end.
    let underWay = isPoll ? cloud.polls : cloud.requests
    underWay.begin()
    let task = Task(executorPreference: cloud.executor) { [self] in
      let result = await cloud.answer(message, to: self)
      exchange.finish(result)
      underWay.end()
    }
    exchange.start(task: task, timeout: request.timeout)
    return { exchange.cancel() }
  }

  func expectRequests() -> @Sendable () -> Void {
    cloud.requests.begin()
    return { [requests = cloud.requests] in requests.end() }
  }
}

/// A request under way. Its outcome is its answer, its timeout or its cancellation, whichever comes
/// first. A lock protects the state.
private final class InProcessExchange: Sendable {
  typealias Completion = @Sendable (Result<TransportResponse, TransportFailure>) -> Void

  /// The values that the lock protects. All are nil after the outcome.
  private struct State {
    var completion: Completion?
    var task: Task<Void, Never>?
    /// The timer of the timeout. A dispatch source may be used from any thread; its Swift type does
    /// not say so.
    nonisolated(unsafe) var timer: (any DispatchSourceTimer)?
  }

  private let state: Mutex<State>

  init(_ completion: @escaping Completion) {
    state = Mutex(State(completion: completion))
  }

  /// Stores the task of the request, and starts the timer. If the request has already ended, stores
  /// nothing.
  func start(task: Task<Void, Never>, timeout: TimeInterval) {
    // A dispatch source may be used from any thread; its Swift type does not say so.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + timeout)
    timer.setEventHandler { [self] in
      end(.failure(TransportFailure(.timedOut, "no answer within \(timeout) s")))
    }
    let isOver = state.withLock { state in
      guard state.completion != nil else { return true }
      state.task = task
      state.timer = timer
      return false
    }
    timer.resume()
    if isOver { timer.cancel() }
  }

  func cancel() {
    end(.failure(TransportFailure(.cancelled, "the request was cancelled")))
  }

  func finish(_ result: Result<TransportResponse, TransportFailure>) {
    close(result)
  }

  private func end(_ result: Result<TransportResponse, TransportFailure>) {
    close(result)?.cancel()
  }

  /// Calls the completion with the outcome, if there was no outcome before. Returns the request's
  /// task; nil if there was an outcome before.
  @discardableResult
  private func close(
    _ result: Result<TransportResponse, TransportFailure>
  ) -> Task<Void, Never>? {
    let last = state.withLock { state in
      defer { state = State() }
      return state
    }
    last.timer?.cancel()
    last.completion?(result)
    return last.task
  }
}

extension HTTPRequest {
  /// Creates the request as it would arrive over the network. Nil if no URL can be made from the
  /// request's target.
  fileprivate init?(_ request: TransportRequest, below serverURL: URL) {
    guard let url = request.url(below: serverURL),
      let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
    self.init(
      method: request.method.rawValue, target: components.percentEncodedPath + query,
      headers: request.body == nil ? [] : [("Content-Type", request.contentType)],
      body: request.body ?? Data())
  }
}
