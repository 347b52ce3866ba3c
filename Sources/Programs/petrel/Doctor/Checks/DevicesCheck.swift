import CommandInterface
import Configuration
import PushChannels
import Settings
import Storage
import StoreModel

/// The check of the registered devices: whether the configuration has a push channel for each kind
/// of device and each container.
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

  /// Returns a warning for each group of devices without a push channel, or one finding if there is
  /// no such group. A group is the devices of one kind for one container.
  static func judge(_ census: DeviceCensus, for configuration: ServerConfiguration) -> [Finding] {
    let settings = configuration.channelSettings
    let warnings = census.groups.compactMap { group -> Finding? in
      guard let channel = PushChannelRegistry.channel(of: group.kind),
        !channel.reaches(group.container, with: settings)
      else { return nil }
      let least = group.count < DeviceCensus.limit ? "" : "at least "
      let key = channel.key(container: group.container)
      return .warning(
        "\(group.container) has \(least)\(group.count.counting(channel.deviceName)), but "
          + "\(key) is not set up: notifications are logged but not pushed to them",
        "set up \(key) on each server of the store (docs/guide/push-setup.md)")
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
