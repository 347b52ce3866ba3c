/// The reasons why a notification was logged without deliveries to some devices of its subscriber,
/// as stored with the log entry.
public struct UnsentDeliveries: OptionSet, Sendable, Hashable {
  /// The sum of the reasons' numbers, as in the store's tables.
  public let rawValue: Int64

  /// Restores a set of reasons from the stored number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Devices of APNs' development environment have no delivery, because the server that logged the
  /// notification had no channel to them: no configured push service.
  public static let apnsDevelopment = UnsentDeliveries(rawValue: 1)
  /// Devices of APNs' production environment have no delivery, because the server had no channel to
  /// them.
  public static let apnsProduction = UnsentDeliveries(rawValue: 2)
  /// Browsers have no delivery, because the server had no channel to them.
  public static let webPush = UnsentDeliveries(rawValue: 4)
  /// Webhooks have no delivery, because the server had no channel to them.
  public static let webhook = UnsentDeliveries(rawValue: 8)
  /// No device has a delivery, because too many pushes already waited for the subscriber.
  public static let userLimit = UnsentDeliveries(rawValue: 16)
  /// No device has a delivery, because too many pushes already waited on the server.
  public static let serverLimit = UnsentDeliveries(rawValue: 32)

  /// The admin API's names of the reasons.
  private static let names: [(UnsentDeliveries, String)] = [
    (.apnsDevelopment, "apnsDevelopmentNotSetUp"), (.apnsProduction, "apnsProductionNotSetUp"),
    (.webPush, "webPushNotSetUp"), (.webhook, "webhooksNotSetUp"), (.userLimit, "userLimit"),
    (.serverLimit, "serverLimit"),
  ]

  /// The names of these reasons in the admin API, such as `webPushNotSetUp`.
  public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

  /// Creates the reason for a device to which the server has no channel. The set is empty for
  /// courier readers, which never get pushes.
  public init(noWayTo kind: DeviceToken.Kind, _ apnsEnvironment: APNsEnvironment) {
    switch (kind, apnsEnvironment) {
    case (.apns, .development): self = .apnsDevelopment
    case (.apns, .production): self = .apnsProduction
    case (.webPush, _): self = .webPush
    case (.webhook, _): self = .webhook
    // Readers of the courier poll the server, so they need no channel.
    case (.courier, _): self = []
    }
  }
}

/// The number of deliveries that were not written, by reason.
public struct UnsentDeliveryCounts: Sendable, Hashable {
  /// The number not written because the server has no channel to the device.
  public var notSetUp = 0
  /// The number not written because too many deliveries waited for the user.
  public var userLimit = 0
  /// The number not written because too many deliveries waited on the server.
  public var serverLimit = 0

  /// Creates counts of 0.
  public init() {}

  /// Adds the counts of another transaction.
  public static func += (left: inout UnsentDeliveryCounts, right: UnsentDeliveryCounts) {
    left.notSetUp += right.notSetUp
    left.userLimit += right.userLimit
    left.serverLimit += right.serverLimit
  }
}
