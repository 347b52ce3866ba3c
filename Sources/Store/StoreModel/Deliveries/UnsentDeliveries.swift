/// The reasons why a log entry has no deliveries to some devices of its subscriber.
public struct UnsentDeliveries: OptionSet, Sendable, Hashable {
  /// The sum of the reasons' numbers, as stored.
  public let rawValue: Int64

  /// Restores a set of reasons from the stored number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The server that logged the notification had no channel to devices of APNs' development
  /// environment: no configured push service.
  public static let apnsDevelopment = UnsentDeliveries(rawValue: 1)
  /// The server had no channel to devices of APNs' production environment.
  public static let apnsProduction = UnsentDeliveries(rawValue: 2)
  /// The server had no channel to browsers.
  public static let webPush = UnsentDeliveries(rawValue: 4)
  /// The server had no channel to webhooks.
  public static let webhook = UnsentDeliveries(rawValue: 8)
  /// Too many pushes already waited for the subscriber.
  public static let userLimit = UnsentDeliveries(rawValue: 16)
  /// Too many pushes already waited on the server.
  public static let serverLimit = UnsentDeliveries(rawValue: 32)

  private static let names: [(UnsentDeliveries, String)] = [
    (.apnsDevelopment, "apnsDevelopmentNotSetUp"), (.apnsProduction, "apnsProductionNotSetUp"),
    (.webPush, "webPushNotSetUp"), (.webhook, "webhooksNotSetUp"), (.userLimit, "userLimit"),
    (.serverLimit, "serverLimit"),
  ]

  /// The names of these reasons in the admin API, such as `webPushNotSetUp`.
  public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

  /// Creates the reason for a device without a channel; empty for courier readers, which never get
  /// pushes.
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

/// The deliveries that were not written, by reason.
public struct UnsentDeliveryCounts: Sendable, Hashable {
  /// The server has no channel to the device.
  public var notSetUp = 0
  /// Too many deliveries waited for the user.
  public var userLimit = 0
  /// Too many deliveries waited on the server.
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
