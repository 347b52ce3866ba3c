import Foundation

/// Asks a proxy for a tunnel on a connected socket.
///
/// Lives on its loop's thread. The time that it may take is its user's to watch.
final class ProxyTunnel: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let proxy: HTTPProxy
  private var descriptor: Int32
  private var completion: ((Result<Int32, HTTP2Error>) -> Void)?
  private var token: UInt64 = 0
  private var request: ArraySlice<UInt8>
  private var answer: [UInt8] = []

  /// A proxy's answer has a few lines; what is longer is not one.
  private static let greatestAnswer = 16_384

  /// - Parameters:
  ///   - descriptor: the connected socket, which the tunnel owns until it hands it on.
  ///   - completion: gets the socket, from which the target can be spoken to; called once, on the
  ///     loop, unless the tunnel is cancelled before.
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

  /// - Returns: whether the tunnel is there.
  private func receive() throws(HTTP2Error) -> Bool {
    // The target does not speak before it is spoken to, so nothing of it can follow the answer.
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
          throw HTTP2Error(.proxyFailed, "proxy \(proxy) sent more than its answer")
        }
        return true
      }
      guard answer.count <= Self.greatestAnswer, isHTTP else {
        throw HTTP2Error(.proxyFailed, "what proxy \(proxy) answered is not HTTP")
      }
    }
  }

  private var isHTTP: Bool {
    let beginning = Array("HTTP/1.".utf8)
    return answer.prefix(beginning.count).elementsEqual(beginning.prefix(answer.count))
  }

  private var headEnd: Int? {
    guard answer.count >= 4 else { return nil }
    return (0...answer.count - 4).first { answer[$0..<$0 + 4].elementsEqual("\r\n\r\n".utf8) }
      .map { $0 + 4 }
  }

  private func checkStatus() throws(HTTP2Error) {
    let line = String(decoding: answer.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 2)
    guard isHTTP, words.count >= 2, let status = Int(words[1]) else {
      throw HTTP2Error(.proxyFailed, "what proxy \(proxy) answered is not HTTP")
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
