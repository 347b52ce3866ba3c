import Settings
import StoreModel

/// The list of all channels, which are the ways to devices (``PushChannel``).
package enum PushChannelRegistry {
  /// The types of all channels, in the order of the kinds of devices.
  package static let all: [any PushChannel.Type] = DeviceToken.Kind.allCases.compactMap(channel)

  /// Returns the channel for a kind of device. `nil` for readers of the web courier: they fetch
  /// their notifications, so nothing is pushed to them.
  package static func channel(of kind: DeviceToken.Kind) -> (any PushChannel.Type)? {
    switch kind {
    case .apns: APNsChannel.self
    case .webPush: WebPushChannel.self
    case .webhook: WebhookChannel.self
    case .courier: nil
    }
  }

  package static var settings: [Setting<ChannelSettings>] { all.flatMap { $0.settings } }
  package static var containerSettings: [Setting<ChannelSettings>] {
    all.flatMap { $0.containerSettings }
  }
}
