import COpenSSL
import Foundation

/// The settings that all TLS connections of one owner share: certificates, trust, protocol
/// versions.
///
/// All contexts require TLS 1.2 or later and the protocol `h2`, which the peers agree on in the
/// handshake (ALPN). They forbid renegotiation and compression (RFC 9113 section 9.2.1).
///
/// Unchecked: an `SSL_CTX` is only read after its set-up, and OpenSSL counts its references
/// atomically.
final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer

  /// The cipher suites for TLS 1.2: a new key for each connection, and authenticated encryption.
  /// All suites of TLS 1.3 are of this kind. An HTTP/2 peer may refuse the other suites of TLS 1.2
  /// (RFC 9113 appendix A).
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

  private init(method: OpaquePointer?) throws(HTTP2Error) {
    guard let pointer = SSL_CTX_new(method) else {
      throw .openSSL(.systemFailure, "TLS could not be set up")
    }
    self.pointer = pointer
    guard petrel_ssl_context_require_tls12(pointer) == 1 else {
      throw .openSSL(.invalidConfiguration, "OpenSSL's configuration does not allow TLS 1.2")
    }
    // A write may accept a part of the bytes only. The other bytes may be at another address at the
    // next write.
    petrel_ssl_context_add_mode(
      pointer, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    petrel_ssl_context_forbid_renegotiation_and_compression(pointer)
    guard SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1 else {
      throw .openSSL(.invalidConfiguration, "OpenSSL has no cipher that HTTP/2 allows")
    }
  }

  deinit {
    SSL_CTX_free(pointer)
  }

  /// Creates the context of a client, which verifies the server's certificate.
  static func client(
    trust: TLSTrust, identity: TLSIdentity? = nil
  ) throws(HTTP2Error) -> TLSContext {
    let context = try TLSContext(method: TLS_client_method())
    switch trust {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
        throw .openSSL(.invalidConfiguration, "the system's certificates cannot be loaded")
      }
    case .certificateFile(let path):
      guard SSL_CTX_load_verify_locations(context.pointer, path, nil) == 1 else {
        throw .openSSL(
          .invalidConfiguration, "'\(path)' is not a readable PEM file with certificates")
      }
    }
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    let offered: [UInt8] = [2] + Array("h2".utf8)
    // This function returns zero for success, unlike the others.
    guard SSL_CTX_set_alpn_protos(context.pointer, offered, UInt32(offered.count)) == 0 else {
      throw .openSSL(.systemFailure, "HTTP/2 could not be offered")
    }
    if let identity { try context.use(identity, of: "client") }
    return context
  }

  /// `clientAuthorityPEM` is the authority of client certificates; without it the server asks for
  /// none. The handshake succeeds also without a valid certificate (``TLSStream/peerCertificate``).
  static func server(
    _ identity: TLSIdentity, clientAuthorityPEM: String? = nil
  ) throws(HTTP2Error) -> TLSContext {
    let context = try TLSContext(method: TLS_server_method())
    try context.use(identity, of: "server")
    if let clientAuthorityPEM { try context.askForCertificates(from: clientAuthorityPEM) }
    SSL_CTX_set_alpn_select_cb(context.pointer, selectHTTP2, nil)
    return context
  }

  /// Creates a server's context whose handshakes all fail with an alert, because it refuses every
  /// protocol (ALPN). Tests use this context.
  static func refusing(_ identity: TLSIdentity) throws(HTTP2Error) -> TLSContext {
    let context = try TLSContext(method: TLS_server_method())
    try context.use(identity, of: "server")
    SSL_CTX_set_alpn_select_cb(
      context.pointer, { _, _, _, _, _, _ in SSL_TLSEXT_ERR_ALERT_FATAL }, nil)
    return context
  }

  private func askForCertificates(from authorityPEM: String) throws(HTTP2Error) {
    let stream = Self.stream(containing: authorityPEM)
    defer { BIO_free(stream) }
    guard let authority = PEM_read_bio_X509(stream, nil, nil, nil) else {
      throw .openSSL(
        .invalidConfiguration, "the certificate of the clients' authority is not in PEM format")
    }
    defer { X509_free(authority) }
    guard X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority) == 1,
      SSL_CTX_add_client_CA(pointer, authority) == 1
    else {
      throw .openSSL(.invalidConfiguration, "the clients' authority cannot be used")
    }
    // The callback accepts every certificate. OpenSSL keeps the failure as the result of the
    // verification, and the server reads it there.
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, { _, _ in 1 })
    // Without a session ID context, OpenSSL refuses to resume sessions that had a client
    // certificate.
    let name = Array("petrel".utf8)
    SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
  }

  /// Sets the certificate and the key. `end` names their owner in errors.
  private func use(_ identity: TLSIdentity, of end: String) throws(HTTP2Error) {
    try useCertificates(identity.certificateChainPEM, of: end)
    try usePrivateKey(identity.privateKeyPEM, of: end)
  }

  private func useCertificates(_ pem: String, of end: String) throws(HTTP2Error) {
    let stream = Self.stream(containing: pem)
    defer { BIO_free(stream) }
    var isFirst = true
    while let certificate = PEM_read_bio_X509(stream, nil, nil, nil) {
      defer { X509_free(certificate) }
      let result =
        isFirst
        ? SSL_CTX_use_certificate(pointer, certificate)
        : petrel_ssl_context_add_chain_certificate(pointer, certificate)
      guard result == 1 else {
        throw .openSSL(.invalidConfiguration, "the \(end)'s certificate cannot be used")
      }
      isFirst = false
    }
    ERR_clear_error()  // OpenSSL reports the end of the text as an error.
    guard !isFirst else {
      throw HTTP2Error(.invalidConfiguration, "the \(end)'s certificate is not in PEM format")
    }
  }

  private func usePrivateKey(_ pem: String, of end: String) throws(HTTP2Error) {
    let stream = Self.stream(containing: pem)
    defer { BIO_free(stream) }
    // The callback refuses an encrypted key. Without a callback, OpenSSL asks for a password on the
    // terminal.
    guard let key = PEM_read_bio_PrivateKey(stream, nil, { _, _, _, _ in -1 }, nil) else {
      throw .openSSL(.invalidConfiguration, "the \(end)'s key is not in PEM format")
    }
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
      throw .openSSL(.invalidConfiguration, "the \(end)'s key does not match its certificate")
    }
  }

  /// Returns an OpenSSL stream with a copy of the text. The caller frees it.
  private static func stream(containing text: String) -> OpaquePointer? {
    let stream = BIO_new(BIO_s_mem())
    var text = text
    text.withUTF8 { _ = BIO_write(stream, $0.baseAddress, Int32(clamping: $0.count)) }
    return stream
  }
}

/// Selects `h2` from the protocols that a client offers (ALPN); any other offer ends the handshake
/// with an alert.
///
/// The result points into the client's list, which lives as long as OpenSSL needs it.
private func selectHTTP2(
  _ ssl: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ selectedLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
  _ offeredLength: UInt32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  var list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))[...]
  while let length = list.popFirst() {
    let name = list.prefix(Int(length))
    list = list.dropFirst(Int(length))
    if name.elementsEqual("h2".utf8) {
      selected?.pointee = UnsafeBufferPointer(rebasing: name).baseAddress
      selectedLength?.pointee = 2
      return SSL_TLSEXT_ERR_OK
    }
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}

extension HTTP2Error {
  /// Creates an error that ends with OpenSSL's description of the last failure, and clears the
  /// thread's error queue.
  static func openSSL(_ code: Code, _ reason: String) -> HTTP2Error {
    let number = ERR_peek_last_error()
    ERR_clear_error()
    guard number != 0 else { return HTTP2Error(code, reason) }
    let detail = ERR_reason_error_string(number).map { String(cString: $0) } ?? "error \(number)"
    return HTTP2Error(code, "\(reason): \(detail)")
  }
}
