import CloudKitModel
import HTTP2Transport

/// The rights of a client's certificate, as its subject's common name says.
///
/// Apple's certificates are named `Apple Push Services: com.example.app`. Those for one environment
/// begin with `Apple Development IOS Push Services: ` or `Apple Production IOS Push Services: `.
/// Any other name allows all topics in both environments.
struct PushCertificate: Sendable, Hashable {
  /// The topic of the certificate; nil for any.
  var topic: String?
  /// The only environment of the certificate; nil for both.
  var environment: ContainerEnvironment?

  /// The beginnings of the names of Apple's certificates.
  private static let kinds: [(prefix: String, environment: ContainerEnvironment?)] = [
    ("Apple Push Services: ", nil),
    ("Apple Development IOS Push Services: ", .development),
    ("Apple Production IOS Push Services: ", .production),
  ]

  /// Reads the rights out of a common name.
  init(commonName: String) {
    for (prefix, environment) in Self.kinds where commonName.hasPrefix(prefix) {
      topic = String(commonName.dropFirst(prefix.count))
      self.environment = environment
    }
  }

  /// Checks a certificate for an environment.
  ///
  /// - Throws: `BadCertificate` if it is not valid, `BadCertificateEnvironment` if it is for the
  ///   other environment.
  init(
    _ shown: TLSPeerCertificate, in environment: ContainerEnvironment
  ) throws(APNsRejection) {
    if let failure = shown.failure {
      throw APNsRejection(
        .badCertificate, "the client's certificate '\(shown.commonName)' is not valid: \(failure)")
    }
    self.init(commonName: shown.commonName)
    if let only = self.environment, only != environment {
      throw APNsRejection(
        .badCertificateEnvironment,
        "the certificate is only for \(only.rawValue), this service is \(environment.rawValue)")
    }
  }

  /// Whether the client may send to a topic: the certificate's own, and those with a suffix
  /// (`.voip`, …).
  func allows(_ topic: String) -> Bool {
    guard let own = self.topic else { return true }
    return topic == own || topic.hasPrefix(own + ".")
  }
}
