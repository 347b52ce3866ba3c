import Foundation

/// The exchange with a proxy that opens a tunnel to a server (`CONNECT`), on a connected socket.
///
/// The exchange has no time limit; its owner sets one and calls ``cancel()``.
///
/// Unchecked: it is used on its loop's thread only.
final class ProxyTunnel: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let proxy: HTTPProxy
  private var descriptor: Int32
  private var completion: ((Result<Int32, HTTP2Error>) -> Void)?
  private var token: UInt64 = 0
  private var request: ArraySlice<UInt8>
  private var answer: [UInt8] = []

  /// The size in bytes above which an answer without the end of its head is refused. The answer of
  /// a usual proxy has a few lines.
  private static let greatestAnswer = 16_384

  /// Prepares a tunnel, which owns the socket until a successful completion. The completion runs
  /// once, on the loop's thread, but not after ``cancel()``.
  init(
    loop: EventLoop, proxy: HTTPProxy, descriptor: Int32, host: String, port: Int,
    completion: @escaping (Result<Int32, HTTP2Error>) -> Void
  ) {
    self.loop = loop
    self.proxy = proxy
    self.descriptor = descriptor
    self.completion = completion
    request = proxy.request(host: host, port: port)[...]
  }

  func start() {
    token = loop.register(descriptor, .writable, self)
  }

  /// Closes the socket without a call of the completion.
  func cancel() {
    completion = nil
    release(closing: true)
  }

  func handle(_ readiness: Readiness) {
    do throws(HTTP2Error) {
      if !request.isEmpty { try send() }
      if request.isEmpty, try receive() { finish(.success(descriptor)) }
    } catch {
      finish(.failure(error))
    }
  }

  private func send() throws(HTTP2Error) {
    let count = request.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EAGAIN { return }
      throw .system("the connection to proxy \(proxy) broke", code: .proxyFailed)
    }
    request = request.dropFirst(count)
    if request.isEmpty { loop.modify(descriptor, .readable, token: token) }
  }

  /// Reads the proxy's answer, and returns whether the tunnel is open. Otherwise more must come.
  private func receive() throws(HTTP2Error) -> Bool {
    // A TLS server sends nothing before the client does, so no bytes of the server can follow the
    // proxy's answer.
    while true {
      let count = read(descriptor, loop.readBuffer.baseAddress, 4096)
      guard count >= 0 else {
        if errno == EAGAIN { return false }
        throw .system("the connection to proxy \(proxy) broke", code: .proxyFailed)
      }
      guard count > 0 else {
        throw HTTP2Error(.proxyFailed, "proxy \(proxy) ended the connection without an answer")
      }
      answer.append(contentsOf: loop.readBuffer[..<count])
      if let end = headEnd {
        try checkStatus()
        guard end == answer.count else {
          throw HTTP2Error(.proxyFailed, "proxy \(proxy) sent data after its answer")
        }
        return true
      }
      guard answer.count <= Self.greatestAnswer, isHTTP else {
        throw HTTP2Error(.proxyFailed, "the answer of proxy \(proxy) is not HTTP")
      }
    }
  }

  /// Whether the answer so far can be the beginning of an HTTP/1 answer.
  private var isHTTP: Bool {
    let beginning = Array("HTTP/1.".utf8)
    return answer.prefix(beginning.count).elementsEqual(beginning.prefix(answer.count))
  }

  /// The length of the answer's head with its empty line; `nil` if the head is not complete.
  private var headEnd: Int? {
    guard answer.count >= 4 else { return nil }
    return (0...answer.count - 4).first { answer[$0..<$0 + 4].elementsEqual("\r\n\r\n".utf8) }
      .map { $0 + 4 }
  }

  /// Checks that the status is 2xx.
  private func checkStatus() throws(HTTP2Error) {
    let line = String(decoding: answer.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 2)
    guard isHTTP, words.count >= 2, let status = Int(words[1]) else {
      throw HTTP2Error(.proxyFailed, "the answer of proxy \(proxy) is not HTTP")
    }
    switch status {
    case 200..<300:
      return
    case 407:
      throw HTTP2Error(
        .proxyFailed,
        proxy.credentials == nil
          ? "proxy \(proxy) asks for a user and a password (407)"
          : "proxy \(proxy) refuses the user or the password (407)")
    default:
      let detail = words.dropFirst().joined(separator: " ").prefix(100)
      throw HTTP2Error(.proxyFailed, "proxy \(proxy) refused to connect: \(detail)")
    }
  }

  /// Ends the attempt and calls the completion, which owns the socket after a success.
  private func finish(_ result: Result<Int32, HTTP2Error>) {
    guard let completion else { return }
    self.completion = nil
    if case .success = result { release(closing: false) } else { release(closing: true) }
    completion(result)
  }

  private func release(closing: Bool) {
    guard descriptor >= 0 else { return }
    loop.unregister(descriptor, token: token)
    if closing { close(descriptor) }
    descriptor = -1
  }
}
