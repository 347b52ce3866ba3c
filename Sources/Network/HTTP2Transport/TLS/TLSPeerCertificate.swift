import COpenSSL

/// What a client showed when it was asked for a certificate.
public struct TLSPeerCertificate: Sendable, Hashable {
  /// The common name of its subject; empty if it has none.
  public var commonName: String
  /// Why the certificate is not a good one, such as an unknown issuer or its age; nil if it is.
  public var failure: String?

  public init(commonName: String, failure: String? = nil) {
    self.commonName = commonName
    self.failure = failure
  }
}

extension TLSPeerCertificate {
  /// What the other end of a finished handshake has shown; nil for nothing.
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
