import COpenSSL
import Foundation

/// Whose a certificate is, and when it is valid.
public struct CertificateSummary: Sendable, Hashable {
  /// The subject's common name; empty where it has none.
  public var commonName: String
  public var start: Date
  public var end: Date

  public init(commonName: String, start: Date, end: Date) {
    self.commonName = commonName
    self.start = start
    self.end = end
  }

  /// The certificates of a PEM text, in their order; keys and other blocks are passed over.
  ///
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` for a text with none.
  public static func all(inPEM text: String) throws(CryptographyError) -> [CertificateSummary] {
    let stream = try MemoryStream(containing: text)
    var found: [CertificateSummary] = []
    while let certificate = PEM_read_bio_X509(stream.pointer, nil, nil, nil) {
      defer { X509_free(certificate) }
      found.append(
        CertificateSummary(
          commonName: commonName(of: certificate), start: date(X509_get0_notBefore(certificate)),
          end: date(X509_get0_notAfter(certificate))))
    }
    ERR_clear_error()
    guard !found.isEmpty else {
      throw CryptographyError(.invalidCertificate, "the text has no certificate in PEM form")
    }
    return found
  }

  private static func commonName(of certificate: OpaquePointer) -> String {
    let name = X509_get_subject_name(certificate)
    let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
    guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return "" }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry))
    guard count >= 0, let bytes else { return "" }
    defer { CRYPTO_free(bytes, nil, 0) }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
  }

  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date {
    var parts = tm()
    ASN1_TIME_to_tm(time, &parts)
    return Date(timeIntervalSince1970: Double(timegm(&parts)))
  }
}
