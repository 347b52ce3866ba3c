import CloudKitModel
import HTTP2Transport

/// What a client's certificate allows, as far as its subject's common name tells: Apple's are called
/// `Apple Push Services: com.example.app`, or begin with `Apple Development IOS Push Services: ` or
/// `Apple Production IOS Push Services: ` if they are for one environment only. Any other name allows
/// all topics in both environments.
struct PushCertificate: Sendable, Hashable {
  /// The topic it is for; nil for any.
  var topic: String?
  /// The only environment that it is for; nil for both.
  var environment: ContainerEnvironment?

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

  /// Throws unless a certificate is a good one for the environment.
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

  /// Whether it may send to a topic: its own, and those that are made of it (`.voip`, …).
  func allows(_ topic: String) -> Bool {
    guard let own = self.topic else { return true }
    return topic == own || topic.hasPrefix(own + ".")
  }
}
