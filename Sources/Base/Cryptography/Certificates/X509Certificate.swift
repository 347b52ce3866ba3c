import COpenSSL
import Foundation

/// A certificate (X.509): an object of OpenSSL, which this object owns.
///
/// Unchecked: no code changes the certificate after it was signed or parsed.
final class X509Certificate: @unchecked Sendable {
  /// The time in which a certificate is valid.
  struct Validity {
    var start: Date
    var end: Date

    /// Creates a validity that begins an hour before `now`, because clocks differ, and ends `days`
    /// days after `now`.
    init(from now: Date, days: Int) {
      start = now.addingTimeInterval(-3600)
      end = now.addingTimeInterval(Double(days) * 86400)
    }
  }

  private let pointer: OpaquePointer

  private init() throws(CryptographyError) {
    guard let pointer = X509_new() else {
      throw .openSSL(.libraryFailure, "no memory for a certificate")
    }
    self.pointer = pointer
  }

  /// Reads the first certificate of a PEM text.
  init(pem: String) throws(CryptographyError) {
    let stream = try MemoryStream(containing: pem)
    guard let pointer = PEM_read_bio_X509(stream.pointer, nil, nil, nil) else {
      throw .openSSL(.invalidCertificate, "the text is not a certificate in PEM form")
    }
    self.pointer = pointer
  }

  deinit {
    X509_free(pointer)
  }

  var pem: String {
    get throws(CryptographyError) {
      let stream = try MemoryStream()
      guard PEM_write_bio_X509(stream.pointer, pointer) == 1 else {
        throw .openSSL(.libraryFailure, "the certificate could not be written as PEM")
      }
      return stream.text
    }
  }

  func belongs(to key: ES256PrivateKey) -> Bool {
    defer { ERR_clear_error() }
    return X509_check_private_key(pointer, key.handle.pointer) == 1
  }

  static func selfSigned(
    commonName: String, key: ES256PrivateKey, validity: Validity
  ) throws(CryptographyError) -> X509Certificate {
    let certificate = try X509Certificate()
    try certificate.fill(key: key.publicKey, commonName: commonName, validity: validity)
    X509_set_issuer_name(certificate.pointer, X509_get_subject_name(certificate.pointer))
    try certificate.add(NID_basic_constraints, "critical,CA:TRUE", issuer: certificate)
    try certificate.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: certificate)
    try certificate.add(NID_subject_key_identifier, "hash", issuer: certificate)
    try certificate.sign(with: key)
    return certificate
  }

  /// Creates a server's certificate. Its common name is the first host, shortened to 64 bytes.
  ///
  /// - Throws: ``CryptographyError/Code/invalidHostName`` if `hosts` is empty.
  static func issued(
    by issuer: X509Certificate, issuerKey: ES256PrivateKey, to key: ES256PublicKey,
    hosts: [CertificateHost], validity: Validity
  ) throws(CryptographyError) -> X509Certificate {
    guard let first = hosts.first else {
      throw CryptographyError(.invalidHostName, "a server certificate needs at least one host")
    }
    let certificate = try X509Certificate()
    let commonName = String(first.alternativeName.drop { $0 != ":" }.dropFirst().prefix(64))
    try certificate.fill(key: key, commonName: commonName, validity: validity)
    X509_set_issuer_name(certificate.pointer, X509_get_subject_name(issuer.pointer))
    try certificate.add(NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
    try certificate.add(NID_key_usage, "critical,digitalSignature", issuer: issuer)
    try certificate.add(NID_ext_key_usage, "serverAuth", issuer: issuer)
    let names = hosts.map(\.alternativeName).joined(separator: ",")
    try certificate.add(NID_subject_alt_name, names, issuer: issuer)
    try certificate.add(NID_subject_key_identifier, "hash", issuer: issuer)
    try certificate.add(NID_authority_key_identifier, "keyid:always", issuer: issuer)
    try certificate.sign(with: issuerKey)
    return certificate
  }

  static func issued(
    by issuer: X509Certificate, issuerKey: ES256PrivateKey, toClient key: ES256PublicKey,
    commonName: String, validity: Validity
  ) throws(CryptographyError) -> X509Certificate {
    let certificate = try X509Certificate()
    try certificate.fill(key: key, commonName: commonName, validity: validity)
    X509_set_issuer_name(certificate.pointer, X509_get_subject_name(issuer.pointer))
    try certificate.add(NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
    try certificate.add(NID_key_usage, "critical,digitalSignature", issuer: issuer)
    try certificate.add(NID_ext_key_usage, "clientAuth", issuer: issuer)
    try certificate.add(NID_subject_key_identifier, "hash", issuer: issuer)
    try certificate.add(NID_authority_key_identifier, "keyid:always", issuer: issuer)
    try certificate.sign(with: issuerKey)
    return certificate
  }

  private func fill(
    key: ES256PublicKey, commonName: String, validity: Validity
  ) throws(CryptographyError) {
    X509_set_version(pointer, 2)  // Version 3; the numbers begin at zero.
    let serial = SecureRandom.bytes(count: 16)
    let number = BN_bin2bn(serial, 16, nil)
    defer { BN_free(number) }
    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer))
    ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(validity.start.timeIntervalSince1970))
    ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(validity.end.timeIntervalSince1970))
    X509_set_pubkey(pointer, key.handle.pointer)
    let added = X509_NAME_add_entry_by_txt(
      X509_get_subject_name(pointer), "CN", MBSTRING_UTF8, commonName,
      Int32(commonName.utf8.count), -1, 0)
    guard added == 1 else {
      throw .openSSL(.invalidCertificate, "'\(commonName)' cannot be a certificate's common name")
    }
  }

  /// Adds an extension. `kind` is OpenSSL's number (NID) of it, `value` is in OpenSSL's notation.
  private func add(
    _ kind: Int32, _ value: String, issuer: X509Certificate
  ) throws(CryptographyError) {
    var context = X509V3_CTX()
    petrel_x509v3_set_issuer(&context, issuer.pointer, pointer)
    guard let extensionPointer = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
      throw .openSSL(.libraryFailure, "the certificate extension '\(value)' could not be made")
    }
    defer { X509_EXTENSION_free(extensionPointer) }
    guard X509_add_ext(pointer, extensionPointer, -1) == 1 else {
      throw .openSSL(.libraryFailure, "the certificate extension '\(value)' could not be added")
    }
  }

  private func sign(with key: ES256PrivateKey) throws(CryptographyError) {
    guard X509_sign(pointer, key.handle.pointer, EVP_sha256()) > 0 else {
      throw .openSSL(.libraryFailure, "the certificate could not be signed")
    }
  }
}
