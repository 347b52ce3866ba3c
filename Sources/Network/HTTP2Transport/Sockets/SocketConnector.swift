import Foundation

/// One attempt to connect to a host within a time limit: it resolves the name and tries the
/// addresses in turn.
///
/// The first address that accepts the connection ends the attempt. Each try gets an equal share of
/// the remaining time.
///
/// Unchecked: it is used on its loop's thread only. Only the name resolution, which blocks, runs on
/// another queue.
final class SocketConnector: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let host: String
  private let port: Int
  /// The end of the attempt, in nanoseconds of ``EventLoop/now``.
  private let deadline: Int64
  /// The function that gets the result; `nil` after the call or after ``cancel()``.
  private var completion: ((Result<Int32, HTTP2Error>) -> Void)?

  private var addresses: ArraySlice<SocketAddress> = []
  /// The socket of the present try; -1 for none.
  private var descriptor: Int32 = -1
  private var token: UInt64 = 0
  private var timer: ScheduledTimer?
  /// The failure of the last address that was tried.
  private var lastError: HTTP2Error

  /// Prepares an attempt. The completion owns the socket that it gets. It runs once, on the loop's
  /// thread, but not after ``cancel()``.
  init(
    loop: EventLoop, host: String, port: Int, timeout: Duration,
    completion: @escaping (Result<Int32, HTTP2Error>) -> Void
  ) {
    self.loop = loop
    self.host = host
    self.port = port
    self.deadline = loop.now + timeout.nanoseconds
    self.completion = completion
    lastError = HTTP2Error(.nameNotResolved, "'\(host)' has no address")
  }

  func start() {
    arm(until: deadline) { connector in
      connector.finish(
        .failure(HTTP2Error(.timedOut, "the address of '\(connector.host)' was not found in time")))
    }
    let (host, port) = (host, port)
    Self.resolverQueue.async { [weak self, loop] in
      let result = Result { () throws(HTTP2Error) in
        try SocketAddress.resolve(host: host, port: port)
      }
      loop.execute { [weak self] in self?.resolved(result) }
    }
  }

  /// Ends the attempt without a call of the completion.
  func cancel() {
    completion = nil
    abandonAttempt()
  }

  /// The queue of the blocking name resolutions. It is concurrent, so one slow name server does not
  /// delay other names.
  private static let resolverQueue = DispatchQueue(
    label: "petrel.http2.resolver", attributes: .concurrent)

  private func resolved(_ result: Result<[SocketAddress], HTTP2Error>) {
    guard completion != nil else { return }
    switch result {
    case .success(let found):
      addresses = found[...]
      tryNext()
    case .failure(let error):
      finish(.failure(error))
    }
  }

  private func tryNext() {
    abandonAttempt()
    guard let address = addresses.popFirst() else {
      finish(.failure(lastError))
      return
    }
    do throws(HTTP2Error) {
      descriptor = try Socket.connecting(to: address)
    } catch {
      lastError = HTTP2Error(.notConnected, "\(host) port \(port): \(error.reason)")
      tryNext()
      return
    }
    token = loop.register(descriptor, .writable, self)
    // An address that drops packets without an answer must leave time for the addresses after it.
    let share = (deadline - loop.now) / Int64(addresses.count + 1)
    arm(until: loop.now + share) { connector in
      connector.lastError = HTTP2Error(
        .timedOut, "\(connector.host) port \(connector.port) did not accept a connection in time")
      connector.tryNext()
    }
  }

  func handle(_ readiness: Readiness) {
    let number = Socket.pendingError(of: descriptor)
    guard number == 0 else {
      let text = String(cString: strerror(number))
      lastError = HTTP2Error(.notConnected, "\(host) port \(port) cannot be reached: \(text)")
      tryNext()
      return
    }
    let connected = descriptor
    loop.unregister(connected, token: token)
    descriptor = -1
    finish(.success(connected))
  }

  private func finish(_ result: Result<Int32, HTTP2Error>) {
    abandonAttempt()
    let completion = self.completion
    self.completion = nil
    completion?(result)
  }

  private func abandonAttempt() {
    if let timer { loop.cancel(timer) }
    timer = nil
    guard descriptor >= 0 else { return }
    loop.unregister(descriptor, token: token)
    close(descriptor)
    descriptor = -1
  }

  /// Runs `action` at `time`, in nanoseconds of ``EventLoop/now``, unless the attempt has ended.
  private func arm(until time: Int64, _ action: @escaping @Sendable (SocketConnector) -> Void) {
    timer = loop.schedule(after: .nanoseconds(max(time - loop.now, 0))) { [weak self] in
      guard let self, completion != nil else { return }
      timer = nil
      action(self)
    }
  }
}
