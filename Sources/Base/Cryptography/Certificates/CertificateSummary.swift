import COpenSSL
import Foundation

/// The name and the time of validity of a certificate.
public struct CertificateSummary: Sendable, Hashable {
  /// The common name of the subject; empty if the subject has no common name.
  public var commonName: String
  /// The time from which the certificate is valid.
  public var start: Date
  /// The time until which the certificate is valid.
  public var end: Date

  /// Creates a summary.
  public init(commonName: String, start: Date, end: Date) {
    self.commonName = commonName
    self.start = start
    self.end = end
  }

  /// Returns the summaries of the certificates in a PEM text, in their order. Keys and other blocks
  /// are skipped. A damaged certificate ends the search.
  ///
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` for a text without a certificate.
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

  /// Converts a time of a certificate, which is in UTC.
  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date {
    var parts = tm()
    ASN1_TIME_to_tm(time, &parts)
    return Date(timeIntervalSince1970: Double(timegm(&parts)))
  }
}
