import CCurl
import Foundation
import Synchronization

/// Sends requests to servers of others, over HTTP/2 or HTTP/1.1, with limits on everything.
///
/// Certificates are checked, redirects are not followed, no proxy is used, there are no cookies, and
/// ``AddressRules`` are applied to the address itself when it is connected to: a name that means
/// another address by then is judged by that one. All of it happens on one thread of the client.
///
/// ```swift
/// let client = try HTTPClient()
/// client.send(OutboundRequest(url: url, headers: [("TTL", "60")], body: body)) { result in … }
/// await client.close()
/// ```
///
/// Unchecked: what is not behind the lock is touched on the client's thread only, but for
/// `curl_multi_wakeup`, which any thread may call.
public final class HTTPClient: @unchecked Sendable {
  public typealias Completion = @Sendable (Result<OutboundAnswer, OutboundError>) -> Void

  /// Takes a piece of an answer's body, on the client's thread. It must not block.
  public typealias Receiver = @Sendable ([UInt8]) -> Void

  private struct Waiting {
    var request: OutboundRequest
    var receive: Receiver?
    var completion: Completion
  }

  private struct Shared {
    var schedule: ExchangeSchedule<Waiting>
    var metrics = Metrics()
    var isClosed = false
    /// Whether the thread is over, and libcurl's handle gone.
    var isOver = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  public let configuration: Configuration
  private let shared: Mutex<Shared>
  private let multi: UnsafeMutableRawPointer
  private let floodGuard = FloodGuard()
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]
  /// Whether libcurl has to be called again before its sockets are waited for.
  private var mustCallAgain = false

  private static let isLibraryReady = petrel_curl_global_init() == CURLE_OK

  /// Starts a client with a thread of its own, which lives until ``close()``.
  ///
  /// - Parameter name: the thread's name in debuggers.
  /// - Throws: ``OutboundError/Code/libraryFailure``.
  public init(
    _ configuration: Configuration = Configuration(), name: String = "petrel-http-out"
  ) throws(OutboundError) {
    guard Self.isLibraryReady, let multi = curl_multi_init() else {
      throw OutboundError(.libraryFailure, "libcurl cannot be started")
    }
    self.configuration = configuration
    self.multi = multi
    shared = Mutex(
      Shared(
        schedule: ExchangeSchedule(
          exchangeLimit: configuration.exchanges, originLimit: configuration.exchangesPerOrigin,
          waitingLimit: configuration.waiting,
          originWaitingLimit: configuration.waitingPerOrigin)))
    let options: [(CURLMoption, Int)] = [
      (CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.connections),
      (CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost),
      (CURLMOPT_MAXCONNECTS, configuration.connections),
    ]
    for (option, value) in options { petrel_curl_multi_set_long(multi, option, value) }
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// How sending is doing.
  public struct Metrics: Sendable, Hashable {
    /// Requests that were answered, whatever the status.
    public var answered = 0
    /// Requests without an answer.
    public var failed = 0
    /// Requests that were not sent, for too many waited.
    public var refused = 0
    public var underWay = 0
    public var waiting = 0

    public init() {}
  }

  public var metrics: Metrics {
    shared.withLock { shared in
      var metrics = shared.metrics
      metrics.underWay = shared.schedule.underWay
      metrics.waiting = shared.schedule.waiting
      return metrics
    }
  }

  /// Sends a request, and calls back once, on the client's thread or the caller's. The callback must
  /// not block.
  ///
  /// - Parameter receive: takes the body as it comes, where the status is 200 to 299; it may then be of
  ///   any size, and the answer that is told at the end has none.
  public func send(
    _ request: OutboundRequest, receive: Receiver? = nil, completion: @escaping Completion
  ) {
    let refusal: OutboundError? = shared.withLock { shared in
      guard !shared.isClosed else { return Self.closed }
      let item = Waiting(request: request, receive: receive, completion: completion)
      guard shared.schedule.add(item, to: request.url.origin) else {
        shared.metrics.refused += 1
        return OutboundError(
          .overloaded,
          "\(shared.schedule.waiting) requests wait already, some of them for "
            + "\(request.url.origin)")
      }
      curl_multi_wakeup(multi)
      return nil
    }
    if let refusal { completion(.failure(refusal)) }
  }

  /// Sends a request and waits for the answer.
  public func send(
    _ request: OutboundRequest, receive: Receiver? = nil
  ) async throws(OutboundError) -> OutboundAnswer {
    try await withCheckedContinuation { continuation in
      send(request, receive: receive) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Breaks off what is under way, refuses what waits and what comes, and ends the thread.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isOver = shared.withLock { shared in
        guard !shared.isOver else { return true }
        shared.isClosed = true
        shared.closers.append(continuation)
        curl_multi_wakeup(multi)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: The thread

  private func run() {
    // Writing to a socket whose peer has gone would otherwise end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while begin() {
      var running: Int32 = 0
      mustCallAgain = false
      curl_multi_perform(multi, &running)
      floodGuard.reset()
      if finishEnded() || mustCallAgain { continue }
      curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
    end()
  }

  /// Begins what may begin; false when the client was closed.
  private func begin() -> Bool {
    while true {
      let (isClosed, next) = shared.withLock { shared in
        (shared.isClosed, shared.isClosed ? nil : shared.schedule.next())
      }
      if isClosed { return false }
      guard let next else { return true }
      begin(next)
    }
  }

  private func begin(_ item: Waiting) {
    let exchange: Exchange
    do {
      exchange = try Exchange(
        item.request, configuration: configuration, floodGuard: floodGuard,
        callAgain: { [unowned self] in mustCallAgain = true }, receive: item.receive,
        completion: item.completion)
    } catch {
      shared.withLock { $0.schedule.finish(item.request.url.origin) }
      return item.completion(.failure(error))
    }
    guard curl_multi_add_handle(multi, exchange.easy) == CURLM_OK else {
      shared.withLock { $0.schedule.finish(item.request.url.origin) }
      return item.completion(.failure(OutboundError(.libraryFailure, "libcurl took no request")))
    }
    exchanges[exchange.easy] = exchange
  }

  /// Reports what has ended; false when nothing has.
  private func finishEnded() -> Bool {
    var hasEnded = false
    var code = CURLE_OK
    while let easy = petrel_curl_next_ended(multi, &code) {
      guard let exchange = exchanges.removeValue(forKey: easy) else { continue }
      hasEnded = true
      curl_multi_remove_handle(multi, easy)
      let result = exchange.result(code)
      shared.withLock { shared in
        shared.schedule.finish(exchange.origin)
        if case .success = result {
          shared.metrics.answered += 1
        } else {
          shared.metrics.failed += 1
        }
      }
      exchange.completion(result)
    }
    return hasEnded
  }

  private func end() {
    let waiting = shared.withLock { $0.schedule.removeWaiting() }
    for (easy, exchange) in exchanges {
      curl_multi_remove_handle(multi, easy)
      exchange.completion(.failure(Self.closed))
    }
    exchanges = [:]
    for item in waiting { item.completion(.failure(Self.closed)) }
    let closers = shared.withLock { shared in
      shared.isOver = true
      curl_multi_cleanup(multi)
      defer { shared.closers = [] }
      return shared.closers
    }
    for closer in closers { closer.resume() }
  }

  private static let closed = OutboundError(.closed, "the server is stopping")
}
