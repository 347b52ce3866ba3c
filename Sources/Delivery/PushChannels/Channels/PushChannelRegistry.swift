import Settings
import StoreModel

/// The channels that there are. No other place lists them.
package enum PushChannelRegistry {
  package static let all: [any PushChannel.Type] = DeviceToken.Kind.allCases.compactMap(channel)

  /// The channel to the devices of a kind; nil where these come for their notifications.
  package static func channel(of kind: DeviceToken.Kind) -> (any PushChannel.Type)? {
    switch kind {
    case .apns: APNsChannel.self
    case .webPush: WebPushChannel.self
    case .webhook: WebhookChannel.self
    case .courier: nil
    }
  }

  /// The keys of all channels at the top of the configuration.
  package static var settings: [Setting<ChannelSettings>] { all.flatMap { $0.settings } }
  /// The keys of all channels in each container.
  package static var containerSettings: [Setting<ChannelSettings>] {
    all.flatMap { $0.containerSettings }
  }
}
