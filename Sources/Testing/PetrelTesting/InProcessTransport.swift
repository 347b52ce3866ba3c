internal import CloudKit
import Dispatch
import Foundation
internal import HTTPService
internal import Synchronization

/// Carries the requests of one device to its cloud in the same process, as they would stand on the
/// wire.
final class InProcessTransport: WebServicesTransport {
  let cloud: TestCloud
  let user: String?
  let device: String
  /// Whether the cloud's faults concern the requests.
  let meetsFaults: Bool
  let serverURL: URL

  init(cloud: TestCloud, user: String?, device: String, meetsFaults: Bool) {
    self.cloud = cloud
    self.user = user
    self.device = device
    self.meetsFaults = meetsFaults
    serverURL = TestCloud.serverURL
  }

  func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    guard let message = HTTPRequest(request, below: serverURL) else {
      completion(.failure(TransportFailure(noURLOf: request)))
      return {}
    }
    let isPoll = if case .courier = request.target { true } else { false }
    let exchange = Exchange(completion)
    // A poll is open most of the time: it must not keep anyone waiting.
    if !isPoll { cloud.requests.begin() }
    let task = Task(executorPreference: cloud.executor) { [self] in
      let result = await cloud.answer(message, to: self)
      exchange.finish(result)
      if !isPoll { cloud.requests.end() }
    }
    exchange.start(task: task, timeout: request.timeout)
    return { exchange.cancel() }
  }
}

/// A request that has one outcome: its answer, its timeout, or that it was cancelled.
private final class Exchange: Sendable {
  typealias Completion = @Sendable (Result<TransportResponse, TransportFailure>) -> Void

  private struct State {
    var completion: Completion?
    var task: Task<Void, Never>?
    /// Dispatch sources may be used from any thread; their Swift type does not say so.
    nonisolated(unsafe) var timer: (any DispatchSourceTimer)?
  }

  private let state: Mutex<State>

  init(_ completion: @escaping Completion) {
    state = Mutex(State(completion: completion))
  }

  func start(task: Task<Void, Never>, timeout: TimeInterval) {
    // A source may be used from any thread; its type does not say so.
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

  /// Gives the request up: its task may stop too.
  private func end(_ result: Result<TransportResponse, TransportFailure>) {
    close(result)?.cancel()
  }

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
  /// A request as it would arrive; nil where no URL can be made of its target.
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
