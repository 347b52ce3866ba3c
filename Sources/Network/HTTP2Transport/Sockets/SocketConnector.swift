import Foundation

/// Finds a host's addresses and connects to the first that accepts, within a time.
///
/// Lives on its loop's thread; only the name is resolved elsewhere, for that blocks.
final class SocketConnector: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let host: String
  private let port: Int
  private let deadline: Int64
  private var completion: ((Result<Int32, HTTP2Error>) -> Void)?

  private var addresses: ArraySlice<SocketAddress> = []
  private var descriptor: Int32 = -1
  private var token: UInt64 = 0
  private var timer: ScheduledTimer?
  private var lastError: HTTP2Error

  /// - Parameter completion: gets the connected socket, which it then owns; called once, on the
  ///   loop, unless the connector is cancelled before.
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

  func cancel() {
    completion = nil
    abandonAttempt()
  }

  /// Concurrent, for one slow name server must not hold up the other names.
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
    // An address that swallows packets must leave time for those after it.
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

  private func arm(until time: Int64, _ action: @escaping @Sendable (SocketConnector) -> Void) {
    timer = loop.schedule(after: .nanoseconds(max(time - loop.now, 0))) { [weak self] in
      guard let self, completion != nil else { return }
      timer = nil
      action(self)
    }
  }
}
