/// Why a notification was logged without deliveries to some devices of its subscriber, as the log keeps
/// it with the entry.
public struct UnsentDeliveries: OptionSet, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Devices of one kind were passed over: when the notification was logged, the server that did so had
  /// no way to them.
  public static let apnsDevelopment = UnsentDeliveries(rawValue: 1)
  public static let apnsProduction = UnsentDeliveries(rawValue: 2)
  public static let webPush = UnsentDeliveries(rawValue: 4)
  public static let webhook = UnsentDeliveries(rawValue: 8)
  /// All devices were passed over: too many pushes for the subscriber waited already.
  public static let userLimit = UnsentDeliveries(rawValue: 16)
  /// All devices were passed over: too many pushes waited on the server already.
  public static let serverLimit = UnsentDeliveries(rawValue: 32)

  /// What the admin API calls each reason.
  private static let names: [(UnsentDeliveries, String)] = [
    (.apnsDevelopment, "apnsDevelopmentNotSetUp"), (.apnsProduction, "apnsProductionNotSetUp"),
    (.webPush, "webPushNotSetUp"), (.webhook, "webhooksNotSetUp"), (.userLimit, "userLimit"),
    (.serverLimit, "serverLimit"),
  ]

  /// The reasons by their names.
  public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

  /// What stands for a device of a channel that is not set up.
  public init(noWayTo kind: DeviceToken.Kind, _ apnsEnvironment: APNsEnvironment) {
    switch (kind, apnsEnvironment) {
    case (.apns, .development): self = .apnsDevelopment
    case (.apns, .production): self = .apnsProduction
    case (.webPush, _): self = .webPush
    case (.webhook, _): self = .webhook
    // Nothing is pushed to its readers in any case.
    case (.courier, _): self = []
    }
  }
}

/// How many deliveries were not written, by why.
public struct UnsentDeliveryCounts: Sendable, Hashable {
  /// For want of a way to the device.
  public var notSetUp = 0
  /// Because too many waited for the user.
  public var userLimit = 0
  /// Because too many waited on the server.
  public var serverLimit = 0

  public init() {}

  public static func += (left: inout UnsentDeliveryCounts, right: UnsentDeliveryCounts) {
    left.notSetUp += right.notSetUp
    left.userLimit += right.userLimit
    left.serverLimit += right.serverLimit
  }
}
