import CCurl
import Foundation
import Synchronization

/// An HTTP client for servers of other people, over HTTP/2 or HTTP/1.1. Its ``Configuration``
/// limits times, sizes, connections and queues.
///
/// The client checks certificates, follows no redirects, uses no proxy and keeps no cookies. It
/// checks the ``AddressRules`` when it connects, with the address that the host's name has at that
/// time. The client uses libcurl, the C library for HTTP. All calls of libcurl's transfers happen
/// on one thread of the client.
///
/// ```swift
/// let client = try HTTPClient()
/// client.send(OutboundRequest(url: url, headers: [("TTL", "60")], body: body)) { result in … }
/// await client.close()
/// ```
///
/// Unchecked: a lock protects `shared`; all other state is used on the client's thread only. Any
/// thread may call `curl_multi_wakeup`.
public final class HTTPClient: @unchecked Sendable {
  /// A function that gets the result of a request, once. It must not block.
  public typealias Completion = @Sendable (Result<OutboundAnswer, OutboundError>) -> Void

  /// A function that gets a piece of an answer's body, on the client's thread. It must not block.
  public typealias Receiver = @Sendable ([UInt8]) -> Void

  /// A request in the queue, with the functions that get its answer.
  private struct Waiting {
    var request: OutboundRequest
    var receive: Receiver?
    var completion: Completion
  }

  /// The state that any thread may use, protected by the lock.
  private struct Shared {
    var schedule: ExchangeSchedule<Waiting>
    var metrics = Metrics()
    var isClosed = false
    /// Whether the thread has ended and libcurl's handle is released.
    var isOver = false
    /// The calls of ``close()`` that wait for the end of the thread.
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  /// The permissions and limits, fixed at creation.
  public let configuration: Configuration
  private let shared: Mutex<Shared>
  /// libcurl's handle for all transfers.
  private let multi: UnsafeMutableRawPointer
  private let floodGuard = FloodGuard()
  /// The requests under way. The key is libcurl's handle of the transfer (``Exchange/easy``).
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]
  /// Whether the thread must call libcurl again before it waits for the sockets.
  private var mustCallAgain = false

  /// Whether libcurl's global set-up succeeded. The set-up runs once in the process.
  private static let isLibraryReady = petrel_curl_global_init() == CURLE_OK

  /// Starts a client with a thread of its own, which lives until ``close()``.
  ///
  /// - Parameter name: the thread's name in debuggers.
  /// - Throws: ``OutboundError/Code/libraryFailure`` if libcurl cannot start.
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

  /// The counters of a client.
  public struct Metrics: Sendable, Hashable {
    /// The number of requests with an answer, of any status.
    public var answered = 0
    /// The number of requests that began and got no answer. Requests that ``close()`` ends do not
    /// count.
    public var failed = 0
    /// The number of requests that failed because too many were waiting.
    public var refused = 0
    /// The number of requests under way.
    public var underWay = 0
    /// The number of waiting requests.
    public var waiting = 0

    /// Creates counters of zero.
    public init() {}
  }

  /// The present values of the counters.
  public var metrics: Metrics {
    shared.withLock { shared in
      var metrics = shared.metrics
      metrics.underWay = shared.schedule.underWay
      metrics.waiting = shared.schedule.waiting
      return metrics
    }
  }

  /// Queues a request, which the client sends when the limits allow. The completion runs once, on
  /// the client's thread. If too many requests wait or the client is closed, the completion runs on
  /// the caller's thread before this method returns.
  ///
  /// - Parameter receive: receives the body in pieces if the status is 200 to 299. The body may
  ///   then have any size, and ``OutboundAnswer/body`` is empty. `nil` to collect the body in the
  ///   answer.
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
          "too many requests are waiting, to \(request.url.origin) or to all servers together "
            + "(\(shared.schedule.waiting))")
      }
      curl_multi_wakeup(multi)
      return nil
    }
    if let refusal { completion(.failure(refusal)) }
  }

  /// Sends a request and waits for the answer.
  ///
  /// - Throws: ``OutboundError`` if there is no answer. An answer with any status is no error.
  public func send(
    _ request: OutboundRequest, receive: Receiver? = nil
  ) async throws(OutboundError) -> OutboundAnswer {
    try await withCheckedContinuation { continuation in
      send(request, receive: receive) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Closes the client and ends its thread. The requests under way, the waiting requests and later
  /// requests fail with ``OutboundError/Code/closed``. The method returns when the thread has
  /// released libcurl's handle.
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

  /// Runs the thread until the client is closed: starts requests, calls libcurl and reports
  /// results.
  private func run() {
    // A write to a socket whose peer is gone raises SIGPIPE, which would end the process.
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

  /// Starts the waiting requests that the limits allow.
  ///
  /// - Returns: `true` if the client is open; `false` if it was closed.
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

  /// Passes a request to libcurl. If libcurl does not accept it, calls the completion with the
  /// error.
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
      return item.completion(
        .failure(OutboundError(.libraryFailure, "libcurl did not accept the request")))
    }
    exchanges[exchange.easy] = exchange
  }

  /// Reports the results of ended requests.
  ///
  /// - Returns: whether at least one request has ended.
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

  /// Fails all requests and releases libcurl's handle. It is the last call of the thread.
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
