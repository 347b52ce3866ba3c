import OutboundHTTP
import Settings

/// Pushes to browsers.
public struct WebPushSettings: Sendable, Hashable {
  public var subject: String
  /// Nil for the key that the server makes and keeps in its store.
  public var keyFile: String?
  public var browsersPerUser = 20
  public var outbound = OutboundSettings()

  public init(subject: String, keyFile: String? = nil) {
    self.subject = subject
    self.keyFile = keyFile
  }
}

extension WebPushSettings {
  package static let table = SettingTable(
    WebPushSettings(subject: ""),
    [
      .init(
        "subject", \.subject, .text, required: true,
        "A `mailto:` or `https:` URL where push services reach the operator."),
      .init(
        "keyFile", \.keyFile, .file(.secret),
        default: "a key that the server makes and keeps in the store",
        "The server's key, P-256 in PEM format."),
      .init(
        "browsersPerUser", \.browsersPerUser, .whole(1...1_000), clientLimit: "browsersPerUser",
        "The browsers that a user may have registered in a container's environment."),
    ] + OutboundSettings.settings.map { $0.within(\.outbound) },
    rules: { reader, webPush throws(ConfigurationError) in
      let subject = webPush.subject
      guard subject.hasPrefix("mailto:") || subject.hasPrefix("https://") else {
        throw reader.mistake(
          "subject", "'subject' must begin with mailto: or https://, not '\(subject)'")
      }
      try webPush.outbound.check(reader)
    })
}
