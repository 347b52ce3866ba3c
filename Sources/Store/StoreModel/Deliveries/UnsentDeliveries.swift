/// The reasons why a notification was logged without deliveries to some devices of its subscriber,
/// as stored with the log entry.
public struct UnsentDeliveries: OptionSet, Sendable, Hashable {
  /// The sum of the reasons' numbers, as the store keeps it.
  public let rawValue: Int64

  /// Restores a set of reasons from the stored number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Devices of APNs' development environment were skipped, because the server that logged the
  /// notification had no channel to them.
  public static let apnsDevelopment = UnsentDeliveries(rawValue: 1)
  /// Devices of APNs' production environment were skipped, because the server had no channel to
  /// them.
  public static let apnsProduction = UnsentDeliveries(rawValue: 2)
  /// Browsers were skipped, because the server had no channel to them.
  public static let webPush = UnsentDeliveries(rawValue: 4)
  /// Webhooks were skipped, because the server had no channel to them.
  public static let webhook = UnsentDeliveries(rawValue: 8)
  /// All devices were skipped: too many pushes already waited for the subscriber.
  public static let userLimit = UnsentDeliveries(rawValue: 16)
  /// All devices were skipped: too many pushes already waited on the server.
  public static let serverLimit = UnsentDeliveries(rawValue: 32)

  /// The admin API's names of the reasons.
  private static let names: [(UnsentDeliveries, String)] = [
    (.apnsDevelopment, "apnsDevelopmentNotSetUp"), (.apnsProduction, "apnsProductionNotSetUp"),
    (.webPush, "webPushNotSetUp"), (.webhook, "webhooksNotSetUp"), (.userLimit, "userLimit"),
    (.serverLimit, "serverLimit"),
  ]

  /// The names of these reasons in the admin API, such as `webPushNotSetUp`.
  public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

  /// Returns the reason for a device whose channel is not set up; empty for courier readers, who
  /// get no pushes.
  public init(noWayTo kind: DeviceToken.Kind, _ apnsEnvironment: APNsEnvironment) {
    switch (kind, apnsEnvironment) {
    case (.apns, .development): self = .apnsDevelopment
    case (.apns, .production): self = .apnsProduction
    case (.webPush, _): self = .webPush
    case (.webhook, _): self = .webhook
    // Readers of the courier get no pushes in any case.
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

  /// Counts without any refusal.
  public init() {}

  /// Adds the counts of another transaction.
  public static func += (left: inout UnsentDeliveryCounts, right: UnsentDeliveryCounts) {
    left.notSetUp += right.notSetUp
    left.userLimit += right.userLimit
    left.serverLimit += right.serverLimit
  }
}
