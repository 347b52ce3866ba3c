import HTTPTransfers
import Synchronization

/// An HTTP client for servers of other people, over HTTP/2 or HTTP/1.1. Its ``Configuration``
/// limits times, sizes, connections and queues.
///
/// The client checks certificates, follows no redirects, uses no proxy and keeps no cookies. It
/// checks the ``AddressRules`` when it connects, with the address that the host's name has at that
/// time. The client has a thread of its own, which carries out its requests (`TransferLoop`).
///
/// ```swift
/// let client = try HTTPClient()
/// client.send(OutboundRequest(url: url, headers: [("TTL", "60")], body: body)) { result in … }
/// await client.close()
/// ```
///
/// Unchecked: a lock protects `shared`, and only the loop's thread uses the `FloodGuard`.
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
    var schedule: RequestSchedule<Waiting>
    var metrics = Metrics()
    var isClosed = false
  }

  /// The permissions and limits, fixed at creation.
  public let configuration: Configuration
  private let shared: Mutex<Shared>
  private let loop: TransferLoop
  private let floodGuard: FloodGuard

  /// Starts a client with a thread of its own, which lives until ``close()``.
  ///
  /// - Parameter name: the thread's name in debuggers.
  /// - Throws: ``OutboundError/Code/libraryFailure`` if libcurl cannot start.
  public init(
    _ configuration: Configuration = Configuration(), name: String = "petrel-http-out"
  ) throws(OutboundError) {
    let floodGuard = FloodGuard()
    guard
      let loop = TransferLoop(
        name: name, connections: configuration.connections,
        connectionsPerHost: configuration.connectionsPerHost, afterCall: { floodGuard.reset() })
    else { throw OutboundError(.libraryFailure, "libcurl cannot be started") }
    self.configuration = configuration
    self.loop = loop
    self.floodGuard = floodGuard
    shared = Mutex(
      Shared(
        schedule: RequestSchedule(
          requestLimit: configuration.exchanges, originLimit: configuration.exchangesPerOrigin,
          waitingLimit: configuration.waiting,
          originWaitingLimit: configuration.waitingPerOrigin)))
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
  /// the client's thread. If the request cannot be sent, such as when too many requests wait, the
  /// completion runs on the caller's thread before this method returns.
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
      return nil
    }
    if let refusal { completion(.failure(refusal)) } else { startWaiting() }
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
  /// requests fail with ``OutboundError/Code/closed``. The method returns when the thread has ended.
  public func close() async {
    let waiting = shared.withLock { shared in
      shared.isClosed = true
      return shared.schedule.removeWaiting()
    }
    for item in waiting { item.completion(.failure(Self.closed)) }
    await loop.close()
  }

  /// Starts the waiting requests that the limits allow.
  private func startWaiting() {
    while let item = shared.withLock({ $0.isClosed ? nil : $0.schedule.next() }) { start(item) }
  }

  private func start(_ item: Waiting) {
    let origin = item.request.url.origin
    do throws(OutboundError) {
      let transfer = OutboundTransfer(
        origin: origin, configuration: configuration, receive: item.receive
      ) { [self] result in
        count(result, from: origin)
        item.completion(result)
        startWaiting()
      }
      loop.start(
        Transfer(
          try TransferRequest(item.request, configuration, watchedBy: floodGuard), to: transfer))
    } catch {
      shared.withLock { $0.schedule.finish(origin) }
      item.completion(.failure(error))
    }
  }

  /// Counts the end of a request that was under way.
  private func count(_ result: Result<OutboundAnswer, OutboundError>, from origin: String) {
    shared.withLock { shared in
      shared.schedule.finish(origin)
      switch result {
      case .success: shared.metrics.answered += 1
      case .failure where shared.isClosed: break
      case .failure: shared.metrics.failed += 1
      }
    }
  }

  static let closed = OutboundError(.closed, "the server is stopping")
}
