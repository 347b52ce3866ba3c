import OutboundHTTP
import Settings

/// The settings of the server for webhooks.
public struct WebhookSettings: Sendable, Hashable {
  /// The greatest number of webhooks that a server-to-server key may have, 1 to 1,000.
  public var webhooksPerKey = 10
  /// The limits of requests to other servers.
  public var outbound = OutboundSettings()

  /// Creates the default settings.
  public init() {}
}

extension WebhookSettings {
  package static let table = SettingTable(
    WebhookSettings(),
    [
      .init(
        "webhooksPerKey", \.webhooksPerKey, .whole(1...1_000), clientLimit: "webhooksPerKey",
        "The webhooks that a server-to-server key may have.")
    ] + OutboundSettings.settings.map { $0.within(\.outbound) },
    rules: { reader, webhooks throws(ConfigurationError) in try webhooks.outbound.check(reader) })
}
