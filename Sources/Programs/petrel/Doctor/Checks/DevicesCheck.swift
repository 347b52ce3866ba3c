import CommandInterface
import Configuration
import PushChannels
import Settings
import Storage
import StoreModel

/// The check of the registered devices: whether the configuration has a push channel for each kind
/// of device, each container and each app, and whether APNs refuses the devices.
struct DevicesCheck: Sendable {
  let configuration: ServerConfiguration

  /// Counts the devices; returns nothing if the store cannot be read.
  func findings() async -> [Finding] {
    // The check of the store reports a store that is missing or unreadable.
    guard let census = try? await DeviceCensus.take(at: configuration.storeLocation) else {
      return []
    }
    return Self.judge(census, for: configuration)
  }

  /// Returns a warning for each group of devices that get no pushes, or one finding if there is no such
  /// group. A group is the devices of one kind and one app for one container.
  static func judge(_ census: DeviceCensus, for configuration: ServerConfiguration) -> [Finding] {
    let settings = configuration.channelSettings
    let warnings = census.groups.compactMap { group -> Finding? in
      guard let channel = PushChannelRegistry.channel(of: group.kind) else { return nil }
      let apns = configuration.containers[group.container]?.channels.apns
      let least = group.count < DeviceCensus.limit ? "" : "at least "
      let key = channel.key(container: group.container)
      let app = group.bundleID.map { " of the app '\($0)'" } ?? ""
      let devices =
        "\(group.container) has \(least)\(group.count.counting(channel.deviceName))\(app)"
      if !channel.reaches(group.container, bundleID: group.bundleID, with: settings) {
        let isTopic = group.kind == .apns && apns != nil
        return .warning(
          "\(devices), but \(isTopic ? "it is not one of the topics of \(key)" : "\(key) is not set up"): "
            + "notifications are logged but not pushed to them",
          isTopic
            ? "add it to 'topics' of \(key) on each server of the store (docs/guide/push-setup.md)"
            : "set up \(key) on each server of the store (docs/guide/push-setup.md)")
      }
      guard let topic = group.refusedTopic, apns?.topic(ofBundle: group.bundleID) == topic else {
        return nil
      }
      return .warning(
        "\(devices) whose tokens APNs refuses for the topic '\(topic)' (DeviceTokenNotForTopic), "
          + "because they belong to an app with another bundle ID: nothing is pushed to them",
        "add that app's bundle ID to 'topics' of \(key), and let the app name it when it registers "
          + "(docs/guide/push-setup.md)")
    }
    guard warnings.isEmpty else { return warnings }
    return [
      .ok(
        census.groups.isEmpty
          ? "no device for pushes is registered"
          : "all registered devices can receive pushes")
    ]
  }
}
