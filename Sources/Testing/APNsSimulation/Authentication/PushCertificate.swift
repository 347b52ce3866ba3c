import CloudKitModel
import HTTP2Transport

/// The topic and the environment to which a client may send with its certificate. The common name
/// of the certificate's subject says both.
///
/// Apple's certificates are named `Apple Push Services: com.example.app`. Names of certificates for
/// one environment begin with `Apple Development IOS Push Services: ` or `Apple Production IOS Push
/// Services: `. A certificate with any other name allows all topics in both environments.
struct PushCertificate: Sendable, Hashable {
  /// The topic of the certificate; nil for any.
  var topic: String?
  /// The only environment in which the certificate is valid; nil for both.
  var environment: ContainerEnvironment?

  /// The beginnings of the names of Apple's certificates, with the environment of each; nil for
  /// both.
  private static let kinds: [(prefix: String, environment: ContainerEnvironment?)] = [
    ("Apple Push Services: ", nil),
    ("Apple Development IOS Push Services: ", .development),
    ("Apple Production IOS Push Services: ", .production),
  ]

  init(commonName: String) {
    for (prefix, environment) in Self.kinds where commonName.hasPrefix(prefix) {
      topic = String(commonName.dropFirst(prefix.count))
      self.environment = environment
    }
  }

  /// Checks a certificate for an environment.
  ///
  /// - Throws: ``APNsReason/badCertificate`` if the certificate is not valid,
  ///   ``APNsReason/badCertificateEnvironment`` if it is for the other environment.
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

  /// Whether the client may send to a topic: the certificate's own topic, or that topic with a dot
  /// and a suffix, such as `.voip`.
  func allows(_ topic: String) -> Bool {
    guard let own = self.topic else { return true }
    return topic == own || topic.hasPrefix(own + ".")
  }
}
