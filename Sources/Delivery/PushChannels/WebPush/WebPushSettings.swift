import OutboundHTTP
import Settings

/// The settings of the server for Web Push.
public struct WebPushSettings: Sendable, Hashable {
  /// The URL at which push services can contact the administrator, `mailto:` or `https:`.
  public var subject: String
  /// The path of the file with the server's key, P-256 in PEM format. `nil` for a key that the
  /// server creates and keeps in its store.
  public var keyFile: String?
  /// The greatest number of browsers that a user may register in one environment of a container, 1
  /// to 1,000.
  public var browsersPerUser = 20
  /// The limits of requests to other servers.
  public var outbound = OutboundSettings()

  /// Creates settings with the default limits.
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
        default: "a key that the server creates and keeps in the store",
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
