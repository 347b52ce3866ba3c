import COpenSSL
import Cryptography
import Foundation

/// A connection to a ``HostilePeer``, for its script: blocking, and used by its thread alone.
public final class HostileConnection {
  public struct Ended: Error, CustomStringConvertible {
    var reason: String
    public var description: String { reason }
  }

  /// Counted from one.
  public let number: Int
  /// Bytes that are sent before the connection is cut, those of TLS included.
  public var sendLimit = Int.max
  private let descriptor: Int32
  private let certificate: ServerCertificate
  private let count: (Int) -> Void
  private var context: OpaquePointer?
  private var ssl: OpaquePointer?
  private var received: [UInt8] = []
  private var hasPreface = false

  init(
    number: Int, descriptor: Int32, certificate: ServerCertificate, count: @escaping (Int) -> Void
  ) {
    self.number = number
    self.descriptor = descriptor
    self.certificate = certificate
    self.count = count
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  // MARK: Without TLS

  /// Sends bytes as they are.
  public func sendRaw(_ bytes: [UInt8]) throws {
    var rest = bytes[...].prefix(sendLimit)
    let isCut = rest.count < bytes.count
    sendLimit -= rest.count
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw Ended(reason: "not sent: \(errno)") }
      count(sent)
      rest = rest.dropFirst(sent)
    }
    if isCut { throw Ended(reason: "cut") }
  }

  /// Waits for bytes, and answers them as they are.
  public func readRaw() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Ended(reason: "ended") }
    return Array(buffer.prefix(count))
  }

  /// Sends nothing more, and waits until the client has read and closed: what lies unread would
  /// otherwise cut off what was sent.
  public func finish() {
    shutdown(descriptor, Int32(SHUT_WR))
    while (try? readRaw()) != nil {}
  }

  // MARK: TLS

  /// Does the server's part of the handshake.
  ///
  /// - Parameters:
  ///   - other: a certificate in place of the peer's.
  ///   - version: `TLS1_2_VERSION` for that one alone.
  ///   - speaksHTTP2: whether it agrees to HTTP/2.
  public func shakeHands(
    with other: ServerCertificate? = nil, version: Int32 = 0, speaksHTTP2: Bool = true
  ) throws {
    let certificate = other ?? certificate
    context = SSL_CTX_new(TLS_server_method())
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try (certificate.certificateChainPEM + certificate.privateKeyPEM).write(
      toFile: file, atomically: false, encoding: .utf8)
    defer { unlink(file) }
    guard SSL_CTX_use_certificate_chain_file(context, file) == 1,
      SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM) == 1
    else { throw Ended(reason: "no certificate") }
    if speaksHTTP2 { SSL_CTX_set_alpn_select_cb(context, Self.selectHTTP2, nil) }
    ssl = SSL_new(context)
    if version != 0 { SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil) }
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
    SSL_set_accept_state(ssl)
    _ = try untilDone { SSL_do_handshake(ssl) }
  }

  /// Sends bytes over TLS.
  public func write(_ bytes: [UInt8]) throws {
    _ = try untilDone { SSL_write(ssl, bytes, Int32(bytes.count)) }
  }

  /// Waits for bytes over TLS.
  public func read() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = try untilDone { SSL_read(ssl, &buffer, Int32(buffer.count)) }
    return Array(buffer.prefix(count))
  }

  /// Says TLS's farewell.
  public func sendClosure() throws {
    SSL_shutdown(ssl)
    try flush()
  }

  /// Asks for another handshake on the same connection, as TLS 1.2 can.
  public func renegotiate() throws {
    guard SSL_renegotiate(ssl) == 1 else { throw Ended(reason: "no renegotiation") }
    _ = try untilDone { SSL_do_handshake(ssl) }
  }

  private func untilDone(_ step: () -> Int32) throws -> Int {
    while true {
      ERR_clear_error()
      let result = step()
      let error = SSL_get_error(ssl, result)
      try flush()
      if result > 0 { return Int(result) }
      guard error == SSL_ERROR_WANT_READ else { throw Ended(reason: "TLS ended: \(error)") }
      let bytes = try readRaw()
      BIO_write(SSL_get_rbio(ssl), bytes, Int32(bytes.count))
    }
  }

  private func flush() throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = BIO_read(SSL_get_wbio(ssl), &buffer, Int32(buffer.count))
      guard count > 0 else { return }
      try sendRaw(Array(buffer.prefix(Int(count))))
    }
  }

  private static let selectHTTP2: SSL_CTX_alpn_select_cb_func = {
    _, selected, length, offered, offeredLength, _ in
    var list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))[...]
    while let size = list.popFirst() {
      let name = list.prefix(Int(size))
      list = list.dropFirst(Int(size))
      guard name.elementsEqual("h2".utf8) else { continue }
      selected?.pointee = UnsafeBufferPointer(rebasing: name).baseAddress
      length?.pointee = 2
      return SSL_TLSEXT_ERR_OK
    }
    return SSL_TLSEXT_ERR_NOACK
  }

  // MARK: HTTP/2

  /// Shakes hands, takes the client's preface, and sends settings.
  public func openHTTP2(settings: [(UInt16, UInt32)] = []) throws {
    try shakeHands()
    try write(HTTP2Frame.settings(settings).bytes)
  }

  /// The next frame of the client.
  public func nextFrame() throws -> HTTP2Frame {
    if !hasPreface {
      while received.count < HTTP2Frame.preface { received += try read() }
      received.removeFirst(HTTP2Frame.preface)
      hasPreface = true
    }
    while true {
      if let (frame, size) = HTTP2Frame.first(in: received) {
        received.removeFirst(size)
        return frame
      }
      received += try read()
    }
  }

  /// Waits for a request, and answers its stream.
  ///
  /// - Parameter isWhole: whether to wait for its body, too.
  public func nextRequest(isWhole: Bool = true) throws -> UInt32 {
    while true {
      let frame = try nextFrame()
      let isEnd = frame.flags & HTTP2Frame.endStream != 0
      switch frame.type {
      case .headers where isEnd || !isWhole: return frame.stream
      case .data where isEnd: return frame.stream
      default: continue
      }
    }
  }

  /// Waits until the client ends the connection, whatever it sends.
  public func waitForEnd() throws {
    while true { _ = try read() }
  }
}
