import CommandInterface
import PetrelServer
import Storage
import StoreModel

/// The devices in the store: whether the configuration has a way to each.
struct DevicesMatter: Sendable {
  let configuration: ServerConfiguration

  func findings() async -> [Finding] {
    // The check of the store reports one that is missing or cannot be read.
    guard let census = try? await DeviceCensus.take(at: configuration.storeLocation) else {
      return []
    }
    return Self.judge(census, for: configuration)
  }

  static func judge(_ census: DeviceCensus, for configuration: ServerConfiguration) -> [Finding] {
    let warnings = census.groups.compactMap { group in
      missingSetting(for: group, in: configuration).map { setting in
        let least = group.count < DeviceCensus.limit ? "" : "at least "
        return Finding.warning(
          "\(group.container) has \(least)\(group.count.counting(name(of: group.kind))), but "
            + "\(setting) is not set up: notifications are logged and not pushed there",
          "set up \(setting), on all servers of the store alike (docs/configuration.md)")
      }
    }
    guard warnings.isEmpty else { return warnings }
    return [
      .ok(
        census.groups.isEmpty
          ? "no device that pushes go to is registered"
          : "there is a way to all devices that pushes go to")
    ]
  }

  private static func name(of kind: DeviceToken.Kind) -> String {
    switch kind {
    case .apns: "APNs device"
    case .courier: "reader"
    case .webPush: "browser"
    case .webhook: "webhook"
    }
  }

  /// The setting that makes the way to devices; nil where the configuration has it.
  private static func missingSetting(
    for group: DeviceCensus.Group, in configuration: ServerConfiguration
  ) -> String? {
    switch group.kind {
    case .apns:
      configuration.containers[group.container]?.apns == nil
        ? "containers.\(group.container).apns" : nil
    // Its readers fetch.
    case .courier: nil
    case .webPush: configuration.webPush == nil ? "webPush" : nil
    case .webhook: configuration.webhooks == nil ? "webhooks" : nil
    }
  }
}
