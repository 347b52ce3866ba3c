import OutboundHTTP
import Settings

/// Posts to programs.
public struct WebhookSettings: Sendable, Hashable {
  public var webhooksPerKey = 10
  public var outbound = OutboundSettings()

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
