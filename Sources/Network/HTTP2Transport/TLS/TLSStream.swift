import COpenSSL
import Foundation

/// A TLS connection over a non-blocking socket, both of which it owns.
final class TLSStream {
  enum Progress {
    /// This many bytes were moved; zero for a finished handshake.
    case done(Int)
    case wantsRead
    case wantsWrite
    /// The peer ended the connection in an orderly way.
    case ended
  }

  let descriptor: Int32
  private let ssl: OpaquePointer
  private let isClient: Bool

  /// Begins the client's side. Takes over `descriptor`, also when it fails.
  ///
  /// - Parameter host: the name or IP address that the server's certificate must be for.
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
      throw .openSSL(.invalidConfiguration, "'\(host)' cannot be a server's name")
    }
    SSL_set_connect_state(ssl)
  }

  /// Begins the server's side. Takes over `descriptor`, also when it fails.
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

  private static func make(
    _ context: TLSContext, _ descriptor: Int32
  ) throws(HTTP2Error) -> OpaquePointer {
    guard let ssl = SSL_new(context.pointer) else {
      close(descriptor)
      throw .openSSL(.systemFailure, "a TLS connection could not be made")
    }
    guard SSL_set_fd(ssl, descriptor) == 1 else {
      SSL_free(ssl)
      close(descriptor)
      throw .openSSL(.systemFailure, "a TLS connection could not be made")
    }
    return ssl
  }

  /// Goes on with the handshake.
  ///
  /// - Throws: also when the peer does not agree to speak HTTP/2.
  func handshake() throws(HTTP2Error) -> Progress {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result == 1 else { return try progress(result, during: "the TLS handshake") }
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    guard UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8) else {
      throw HTTP2Error(.tlsFailed, "the peer does not speak HTTP/2")
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

  /// What the peer has shown in the handshake; nil if it was not asked or has none.
  var peerCertificate: TLSPeerCertificate? { TLSPeerCertificate(ssl) }

  /// Tells the peer that nothing more comes, as far as the socket takes it at once.
  func sendClosure() {
    ERR_clear_error()
    SSL_shutdown(ssl)
    ERR_clear_error()
  }

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
    // Many peers end a connection without TLS's own farewell; HTTP/2 has its own.
    let isEnd = petrel_ssl_is_unexpected_end(ERR_peek_last_error()) == 1
    return .openSSL(isEnd ? .connectionLost : .tlsFailed, "the connection broke during \(action)")
  }
}
