import CloudKitModel
import Foundation
import HTTPService
import OutboundHTTP
import PushChannels
import Settings
import StoreModel

extension ServerConfiguration {
  /// Limits for those who use the server, and of its memory. Without a value there is none.
  public struct Limits: Sendable, Hashable {
    public var privateDatabaseBytes: Int64?
    public var publicDatabaseBytes: Int64?
    public var subscriptionsPerUser = 500
    public var zonesPerDatabase = 10_000
    public var recordTypesPerContainer = 1_000
    public var fieldsPerRecordType = 1_000
    public var apnsDevicesPerUser = 50
    public var courierReadersPerUser = 1_000
    public var undeliveredPushes = 10_000_000
    public var undeliveredPushesPerUser = 10_000
    public var requestRates: [RequestRate.Subject: RequestRate] = [:]
    public var clientAddressHeader: String?
    /// Nil: everywhere where a ``clientAddressHeader`` is named, and otherwise on this machine.
    public var proxies: [IPNetwork]?
    public var connectionsPerAddress = HTTPServer.Configuration().connectionsByAddress
    public var connectionsPerNetwork = HTTPServer.Configuration().connectionsByNetwork
    public var requestSeconds = 60
    public var matchingIndexBytes = 1 << 30
    public var searchCacheBytes = 128 << 20
    public var silentPushInterval = 0.0
    public var waitingPushes = 1_000_000

    public init() {}

    /// Whether connections from an address are those of many clients.
    package func isProxy(_ address: String) -> Bool {
      guard let address = IPAddress(address) else { return false }
      guard let proxies else { return clientAddressHeader != nil || address.isLoopback }
      return proxies.contains { $0.contains(address) }
    }
  }
}

extension ServerConfiguration.Limits {
  static let settings = SettingTable(
    ServerConfiguration.Limits(),
    [
      .init(
        "privateDatabaseBytes", \.privateDatabaseBytes, .whole(1...1 << 60, .bytes),
        clientLimit: "privateDatabaseBytes", default: "not limited",
        "The records and assets of one private database."),
      .init(
        "publicDatabaseBytes", \.publicDatabaseBytes, .whole(1...1 << 60, .bytes),
        clientLimit: "publicDatabaseBytes", default: "not limited",
        "The records and assets of one public database."),
      share(
        "subscriptionsPerUser", \.subscriptionsPerUser,
        "The subscriptions of one user in one database."),
      share(
        "zonesPerDatabase", \.zonesPerDatabase,
        "The zones of one database, the default zone among them."),
      share(
        "recordTypesPerContainer", \.recordTypesPerContainer,
        "The record types that saved records make. Those of `petrel schema` do not count."),
      share(
        "fieldsPerRecordType", \.fieldsPerRecordType,
        "The fields of one record type that saved records make."),
      share(
        "apnsDevicesPerUser", \.apnsDevicesPerUser,
        "The APNs tokens of one user. The server removes those that APNs does not know any more."),
      share(
        "courierReadersPerUser", \.courierReadersPerUser,
        "The tokens of the web courier of one user that have not expired."),
      .init(
        "undeliveredPushes", \.undeliveredPushes, .whole(1...1_000_000_000), restart: true,
        "The pushes of the store that have no outcome yet."),
      .init(
        "undeliveredPushesPerUser", \.undeliveredPushesPerUser, .whole(1...1_000_000_000),
        restart: true,
        "The pushes of one database to one user's devices that have no outcome yet, about."),
      .object(
        "requestRates", \.requestRates, rates,
        "How many requests may be made, and by whom. Without a rate there is no limit."),
      .init(
        "clientAddressHeader", \.clientAddressHeader, .text,
        "The header field with the client's address from a proxy, such as `X-Forwarded-For`."),
      .init(
        "proxies", \.proxies, .networks, restart: true,
        default: "this machine; with `clientAddressHeader` all addresses",
        "The addresses of proxies in front, such as `[\"10.0.0.0/24\"]`."),
      .init(
        "connectionsPerAddress", \.connectionsPerAddress, .whole(1...1_000_000), restart: true,
        "The open connections of one IPv4 address or one IPv6 /64 network."),
      .init(
        "connectionsPerNetwork", \.connectionsPerNetwork, .whole(1...1_000_000), restart: true,
        "The open connections of one IPv4 /24 or one IPv6 /48 network."),
      .init(
        "requestSeconds", \.requestSeconds, .whole(1...3_600, .seconds), restart: true,
        clientLimit: "requestSeconds", "The time of a request."),
      .init(
        "matchingIndexBytes", \.matchingIndexBytes, .whole(0...1 << 60, .bytes), restart: true,
        "The memory for the indexes by which changes find subscriptions, as estimated."),
      .init(
        "searchCacheBytes", \.searchCacheBytes, .whole(0...1 << 60, .bytes), restart: true,
        "The memory for what searches keep of a file's value index. 0 keeps nothing."),
      .init(
        "silentPushInterval", \.silentPushInterval, .number(0...86_400, .seconds), restart: true,
        clientLimit: "silentPushInterval",
        "The time between two silent pushes to a device. 0 is no limit."),
      .init(
        "waitingPushes", \.waitingPushes, .whole(1...1_000_000_000), restart: true,
        "The waiting pushes beyond which the silent ones for a device become one."),
    ])

  private static func share(
    _ name: String, _ path: Setting<Self>.Path<Int>, _ meaning: String
  ) -> Setting<Self> {
    .init(name, path, .whole(1...1_000_000_000), clientLimit: name, meaning)
  }

  private static let rates = SettingTable<[RequestRate.Subject: RequestRate]>(
    [:],
    RequestRate.Subject.allCases.map { subject in
      .object(
        subject.rawValue, \.[subject], RequestRate.settings, default: "not limited",
        subject.meaning)
    })
}

extension RequestRate {
  fileprivate static let settings = SettingTable(
    RequestRate(perSecond: 0, burst: 0),
    [
      .init(
        "perSecond", \.perSecond, .positive(upTo: 1_000_000), required: true,
        "The requests a second, in the long run."),
      .init(
        "burst", \.burst, .whole(1...1_000_000), default: "ten times `perSecond`",
        "The requests that may come at once."),
    ],
    rules: { reader, rate throws(ConfigurationError) in
      guard !reader.has("burst") else { return }
      rate.burst = max(1, Int((rate.perSecond * 10).rounded(.up)))
    })
}

extension RequestRate.Subject {
  fileprivate var meaning: String {
    switch self {
    case .user: "The rate of a signed-in user."
    case .serverKey: "The rate of a server-to-server key."
    case .apiToken: "The rate of all requests together that bear one API token."
    case .address:
      "The rate of an IPv4 address or an IPv6 /64 network, for requests of nobody who is known."
    }
  }
}

extension ServerConfiguration {
  /// What the store refuses beyond.
  package var quotas: [StoreQuotas.Subject: Int] {
    var quotas: [StoreQuotas.Subject: Int] = [
      .subscriptionsPerUser: limits.subscriptionsPerUser,
      .zonesPerDatabase: limits.zonesPerDatabase,
      .recordTypes: limits.recordTypesPerContainer,
      .fieldsPerRecordType: limits.fieldsPerRecordType,
      .apnsDevicesPerUser: limits.apnsDevicesPerUser,
      .courierReadersPerUser: limits.courierReadersPerUser,
    ]
    quotas[.privateDatabaseBytes] = limits.privateDatabaseBytes.map { Int($0) }
    quotas[.publicDatabaseBytes] = limits.publicDatabaseBytes.map { Int($0) }
    for channel in PushChannelRegistry.all {
      guard let limit = channel.deviceLimit(of: channelSettings) else { continue }
      quotas[channel.kind.quota] = limit
    }
    return quotas
  }
}

extension ServerConfiguration.Limits {
  /// Bytes that a database of this scope may have; nil for any number.
  package func bytes(of scope: DatabaseScope) -> Int64? {
    switch scope {
    case .private: privateDatabaseBytes
    case .public: publicDatabaseBytes
    case .shared: nil
    }
  }
}
