import CloudKitModel
import Foundation
import HTTPService
import OutboundHTTP
import PushChannels
import Settings
import StoreModel

extension ServerConfiguration {
  /// The limits for clients and for the server's memory (`limits`). A limit that is nil does not
  /// apply.
  public struct Limits: Sendable, Hashable {
    /// The maximum size of a private database's records and assets in bytes.
    public var privateDatabaseBytes: Int64?
    /// The maximum size of a public database's records and assets in bytes.
    public var publicDatabaseBytes: Int64?
    /// The maximum number of subscriptions of one user in one database.
    public var subscriptionsPerUser = 500
    /// The maximum number of zones in one database, including the default zone.
    public var zonesPerDatabase = 10_000
    /// The maximum number of containers in which the store has data. It applies to containers that
    /// users' requests create, and only if the configuration lists no containers.
    public var containers = 1_000
    /// The maximum number of containers that the requests of one user create in an hour.
    public var newContainersPerUser = 20
    /// The maximum number of record types that saved records create in a container. Types of an
    /// imported schema do not count.
    public var recordTypesPerContainer = 1_000
    /// The maximum number of fields that saved records create in a record type.
    public var fieldsPerRecordType = 1_000
    /// The maximum number of APNs tokens of one user.
    public var apnsDevicesPerUser = 50
    /// The maximum number of unexpired web courier tokens of one user.
    public var courierReadersPerUser = 1_000
    /// The maximum number of open event streams of one user at this server.
    public var eventStreamsPerUser = 50
    /// The maximum number of pushes in the whole store that have no outcome yet. Above this number,
    /// the server logs notifications, but queues no pushes for them.
    public var undeliveredPushes = 10_000_000
    /// The maximum number of such pushes for one user in one database. The server counts
    /// approximately.
    public var undeliveredPushesPerUser = 10_000
    /// The limits of request rates. A subject without a rate has no limit.
    public var requestRates: [RequestRate.Subject: RequestRate] = [:]
    /// The header field in which a proxy writes the client's address, such as `X-Forwarded-For`;
    /// nil without such a proxy.
    public var clientAddressHeader: String?
    /// The networks of the proxies in front of the server. Nil means all addresses if
    /// ``clientAddressHeader`` is set, and this machine's loopback addresses otherwise.
    public var proxies: [IPNetwork]?
    /// The maximum number of open connections of one IPv4 address or one IPv6 /64 network. Proxies
    /// are exempt.
    public var connectionsPerAddress = HTTPServer.Configuration().connectionsByAddress
    /// The maximum number of open connections of one IPv4 /24 or one IPv6 /48 network.
    public var connectionsPerNetwork = HTTPServer.Configuration().connectionsByNetwork
    /// The maximum time of a request in seconds. It does not end streams.
    public var requestSeconds = 60
    /// The estimated size in bytes up to which the dispatcher keeps subscription indexes in memory.
    public var matchingIndexBytes = 1 << 30
    /// The maximum size in bytes of the search cache of a store in a file. The cache contains parts
    /// of the index of field values. 0 turns the cache off.
    public var searchCacheBytes = 128 << 20
    /// The minimum time in seconds between two silent pushes to a device; 0 means no minimum.
    public var silentPushInterval = 0.0
    /// The number of waiting pushes above which the server merges all silent pushes for a device
    /// into one, also those of different subscriptions. The merging ends when half as many wait.
    public var waitingPushes = 1_000_000

    /// Creates the default limits.
    public init() {}

    /// Whether an address belongs to a proxy. A proxy's connections carry the requests of many
    /// clients.
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
        "containers", \.containers,
        "The containers of the server that users' requests create, if `containers` lists none."),
      share(
        "newContainersPerUser", \.newContainersPerUser,
        "The containers that one user's requests create in an hour, if `containers` lists none."),
      share(
        "recordTypesPerContainer", \.recordTypesPerContainer,
        "The record types that saved records create. Those of `petrel schema` do not count."),
      share(
        "fieldsPerRecordType", \.fieldsPerRecordType,
        "The fields of one record type that saved records create."),
      share(
        "apnsDevicesPerUser", \.apnsDevicesPerUser,
        "The APNs tokens of one user. The server removes tokens that APNs reports as unregistered."),
      share(
        "courierReadersPerUser", \.courierReadersPerUser,
        "The tokens of the web courier of one user that have not expired."),
      .init(
        "eventStreamsPerUser", \.eventStreamsPerUser, .whole(1...1_000_000), restart: true,
        clientLimit: "eventStreamsPerUser",
        "The open event streams of one user at one server."),
      .init(
        "undeliveredPushes", \.undeliveredPushes, .whole(1...1_000_000_000), restart: true,
        "The pushes of the store that have no outcome yet."),
      .init(
        "undeliveredPushesPerUser", \.undeliveredPushesPerUser, .whole(1...1_000_000_000),
        restart: true,
        "The approximate pushes of one database to one user's devices that have no outcome yet."),
      .object(
        "requestRates", \.requestRates, rates,
        "The request rates by kind of caller. Without a rate there is no limit."),
      .init(
        "clientAddressHeader", \.clientAddressHeader, .text,
        "The header field with the client's address from a proxy, such as `X-Forwarded-For`."),
      .init(
        "proxies", \.proxies, .networks, restart: true,
        default: "this machine; with `clientAddressHeader` all addresses",
        "The addresses of proxies in front of the server, such as `[\"10.0.0.0/24\"]`."),
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
        "The estimated memory for the indexes that match changes with subscriptions."),
      .init(
        "searchCacheBytes", \.searchCacheBytes, .whole(0...1 << 60, .bytes), restart: true,
        "The memory of the search cache of a store in a file. 0 turns the cache off."),
      .init(
        "silentPushInterval", \.silentPushInterval, .number(0...86_400, .seconds), restart: true,
        clientLimit: "silentPushInterval",
        "The time between two silent pushes to a device. 0 is no limit."),
      .init(
        "waitingPushes", \.waitingPushes, .whole(1...1_000_000_000), restart: true,
        "The number of waiting pushes above which the silent pushes of a device are merged into one."
      ),
    ])

  /// Returns the setting of a quota. Its value is from 1 to 1,000,000,000, and `server/limits`
  /// shows it to clients.
  private static func share(
    _ name: String, _ path: Setting<Self>.Path<Int>, _ meaning: String
  ) -> Setting<Self> {
    .init(name, path, .whole(1...1_000_000_000), clientLimit: name, meaning)
  }

  /// The table of the request rates, with one object for each subject.
  private static let rates = SettingTable<[RequestRate.Subject: RequestRate]>(
    [:],
    RequestRate.Subject.allCases.map { subject in
      .object(
        subject.rawValue, \.[subject], RequestRate.settings, default: "not limited",
        subject.meaning)
    })
}

extension RequestRate {
  /// The table of one request rate. Without a value, `burst` is ten times `perSecond`, rounded up,
  /// and at least 1.
  fileprivate static let settings = SettingTable(
    RequestRate(perSecond: 0, burst: 0),
    [
      .init(
        "perSecond", \.perSecond, .positive(upTo: 1_000_000), required: true,
        "The requests a second, on average."),
      .init(
        "burst", \.burst, .whole(1...1_000_000), default: "ten times `perSecond`",
        "The requests that may arrive at once."),
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
    case .apiToken: "The rate of all requests together with one API token."
    case .address:
      "The rate of an IPv4 address or an IPv6 /64 network, for requests without a known caller."
    }
  }
}

extension ServerConfiguration {
  /// The quotas that the store enforces. A subject that the dictionary does not contain has no
  /// limit.
  package var quotas: [StoreQuotas.Subject: Int] {
    var quotas: [StoreQuotas.Subject: Int] = [
      .subscriptionsPerUser: limits.subscriptionsPerUser,
      .zonesPerDatabase: limits.zonesPerDatabase,
      .recordTypes: limits.recordTypesPerContainer,
      .fieldsPerRecordType: limits.fieldsPerRecordType,
      .apnsDevicesPerUser: limits.apnsDevicesPerUser,
      .courierReadersPerUser: limits.courierReadersPerUser,
    ]
    if containers.isEmpty {
      quotas[.containers] = limits.containers
      quotas[.newContainersPerUser] = limits.newContainersPerUser
    }
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
  /// Returns the maximum size in bytes of a database of this scope; nil for no limit. The
  /// records of a shared database are in the private databases of their owners, whose limit counts.
  package func bytes(of scope: DatabaseScope) -> Int64? {
    switch scope {
    case .private, .shared: privateDatabaseBytes
    case .public: publicDatabaseBytes
    }
  }
}
