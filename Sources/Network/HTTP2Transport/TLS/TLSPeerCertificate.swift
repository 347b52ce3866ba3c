import COpenSSL

/// The certificate that the peer presented in the TLS handshake.
public struct TLSPeerCertificate: Sendable, Hashable {
  /// The common name (CN) of the certificate's subject, up to 255 bytes; empty if the subject has
  /// no common name.
  public var commonName: String
  /// The reason why the verification failed, such as an unknown issuer or an expired certificate;
  /// `nil` if the certificate is valid.
  public var failure: String?

  /// Creates a value from its parts.
  public init(commonName: String, failure: String? = nil) {
    self.commonName = commonName
    self.failure = failure
  }
}

extension TLSPeerCertificate {
  /// Reads the peer's certificate after a finished handshake; `nil` if the peer presented none.
  init?(_ ssl: OpaquePointer) {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    var name = [CChar](repeating: 0, count: 256)
    let length = X509_NAME_get_text_by_NID(
      X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
    commonName = String(
      decoding: name.prefix(Int(max(0, length))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let result = SSL_get_verify_result(ssl)
    failure =
      result == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(result))
  }
}
