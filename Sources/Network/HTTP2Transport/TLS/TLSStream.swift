import COpenSSL
import Foundation

/// A TLS connection over a non-blocking socket. The object owns the socket and closes it in
/// `deinit`.
///
/// It is used on one thread only, the thread of the connection's ``EventLoop``.
final class TLSStream {
  /// The result of one step on a non-blocking connection.
  enum Progress {
    /// The number of read or written bytes; 0 for a finished handshake.
    case done(Int)
    /// The step needs bytes from the peer first: repeat the step when the socket is readable.
    case wantsRead
    /// The socket accepts no more bytes: repeat the step when the socket is writable.
    case wantsWrite
    /// The peer ended the connection with TLS's closure alert.
    case ended
  }

  let descriptor: Int32
  private let ssl: OpaquePointer
  private let isClient: Bool

  /// Creates the client's end and owns `descriptor`, which it closes if it throws.
  ///
  /// - Parameter host: the name or IP address of the server's certificate. A name is also sent
  ///   (SNI).
  init(client context: TLSContext, descriptor: Int32, host: String) throws(HTTP2Error) {
    self.descriptor = descriptor
    isClient = true
    ssl = try Self.make(context, descriptor)
    let isPrepared: Bool
    if SocketAddress.isNumeric(host) {
      isPrepared = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
    } else {
      isPrepared = SSL_set1_host(ssl, host) == 1 && petrel_ssl_set_server_name(ssl, host) == 1
    }
    guard isPrepared else {
      throw .openSSL(.invalidConfiguration, "'\(host)' is not a valid server name")
    }
    SSL_set_connect_state(ssl)
  }

  /// Creates the server's end and owns `descriptor`, which it closes if it throws.
  init(server context: TLSContext, descriptor: Int32) throws(HTTP2Error) {
    self.descriptor = descriptor
    isClient = false
    ssl = try Self.make(context, descriptor)
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    close(descriptor)
  }

  /// Creates OpenSSL's connection object; closes `descriptor` on failure.
  private static func make(
    _ context: TLSContext, _ descriptor: Int32
  ) throws(HTTP2Error) -> OpaquePointer {
    guard let ssl = SSL_new(context.pointer) else {
      close(descriptor)
      throw .openSSL(.systemFailure, "a TLS connection could not be created")
    }
    guard SSL_set_fd(ssl, descriptor) == 1 else {
      SSL_free(ssl)
      close(descriptor)
      throw .openSSL(.systemFailure, "a TLS connection could not be created")
    }
    return ssl
  }

  /// Does the next step. Without agreement on HTTP/2 it throws ``HTTP2Error/Code/tlsFailed``.
  func handshake() throws(HTTP2Error) -> Progress {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result == 1 else { return try progress(result, during: "the TLS handshake") }
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    guard UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8) else {
      throw HTTP2Error(.tlsFailed, "the peer does not support HTTP/2")
    }
    return .done(0)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Progress {
    ERR_clear_error()
    let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return count > 0 ? .done(Int(count)) : try progress(count, during: "reading")
  }

  func write(_ buffer: UnsafeRawBufferPointer) throws(HTTP2Error) -> Progress {
    ERR_clear_error()
    let count = SSL_write(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return count > 0 ? .done(Int(count)) : try progress(count, during: "writing")
  }

  var peerCertificate: TLSPeerCertificate? { TLSPeerCertificate(ssl) }

  /// Sends the closure alert of TLS, if the socket accepts it at once.
  func sendClosure() {
    ERR_clear_error()
    SSL_shutdown(ssl)
    ERR_clear_error()
  }

  /// Converts a result that is not a success, or throws it. `action` names the step in the error.
  private func progress(_ result: Int32, during action: String) throws(HTTP2Error) -> Progress {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .ended
    case SSL_ERROR_SYSCALL:
      let detail = errno == 0 ? "the peer ended it" : String(cString: strerror(errno))
      ERR_clear_error()
      throw HTTP2Error(.connectionLost, "the connection broke during \(action): \(detail)")
    default:
      throw tlsError(during: action)
    }
  }

  private func tlsError(during action: String) -> HTTP2Error {
    let verification = SSL_get_verify_result(ssl)
    if isClient, verification != Int(X509_V_OK) {
      ERR_clear_error()
      let detail = String(cString: X509_verify_cert_error_string(verification))
      return HTTP2Error(.certificateRejected, "the server's certificate is not accepted: \(detail)")
    }
    // Many peers close the socket without the closure alert of TLS. That is not an attack here,
    // because HTTP/2 marks the end of messages itself.
    let isEnd = petrel_ssl_is_unexpected_end(ERR_peek_last_error()) == 1
    return .openSSL(isEnd ? .connectionLost : .tlsFailed, "the connection broke during \(action)")
  }
}
