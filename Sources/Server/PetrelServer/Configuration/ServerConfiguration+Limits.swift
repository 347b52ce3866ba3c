import CloudKitModel
import Foundation
import HTTPService
import OutboundHTTP
import StoreModel

extension ServerConfiguration {
  /// Limits for those who use the server, and of its memory. Without a value there is none.
  public struct Limits: Sendable, Hashable {
    /// Bytes of the records and assets of one private database. What would make it larger is
    /// refused with `QUOTA_EXCEEDED`.
    public var privateDatabaseBytes: Int64?
    /// The same of one public database.
    public var publicDatabaseBytes: Int64?
    /// Subscriptions of one user in one database. One more is refused with `QUOTA_EXCEEDED`, as is all
    /// that passes one of the next limits.
    public var subscriptionsPerUser = 500
    /// Zones of one database.
    public var zonesPerDatabase = 10_000
    /// Record types of a container's environment that are made by saving records.
    public var recordTypesPerContainer = 1_000
    /// Fields of a record type that are made by saving records.
    public var fieldsPerRecordType = 1_000
    /// APNs tokens of one user in a container's environment.
    public var apnsDevicesPerUser = 50
    /// Tokens of the web courier of one user in a container's environment that have not expired.
    public var courierReadersPerUser = 1_000
    /// Pushes that have no outcome yet. More are not written to the store: their notifications are in
    /// the notification log alone.
    public var undeliveredPushes = 10_000_000
    /// The same of one database for one user.
    public var undeliveredPushesPerUser = 10_000
    public var requestRates: [RequestRate.Subject: RequestRate] = [:]
    /// The header field in which a proxy in front tells the client's address, such as
    /// `X-Forwarded-For`. Name one only when all requests come through the proxy.
    public var clientAddressHeader: String?
    /// Where proxies in front have their addresses: their connections are those of many clients. Nil:
    /// everywhere where a ``clientAddressHeader`` is named, and otherwise on this machine.
    public var proxies: [IPNetwork]?
    /// Open connections of one address, an IPv4 address or an IPv6 /64 network, unless it is a proxy's.
    public var connectionsPerAddress = HTTPServer.Configuration().connectionsByAddress
    /// Open connections of one network, an IPv4 /24 or an IPv6 /48, unless it is a proxy's.
    public var connectionsPerNetwork = HTTPServer.Configuration().connectionsByNetwork
    /// Seconds that a request may take; what it reads ends then. Changes that have begun are carried out.
    public var requestSeconds = 60
    /// Bytes of memory for the databases' matching indexes, as estimated. Those that went unused
    /// longest make room; the one that was used last stays however large it is.
    public var matchingIndexBytes = 1 << 30
    /// Bytes of memory for what searches keep of the value index. With 0 they keep nothing.
    public var searchCacheBytes = 128 << 20
    /// Seconds between two silent pushes to a device; 0 for no limit. Those that come meanwhile wait,
    /// and become one for each subscription.
    public var silentPushInterval = 0.0
    /// When more pushes than these wait, silent ones for a device become one whatever their
    /// subscriptions.
    public var waitingPushes = 1_000_000

    public init() {}

    /// Whether connections from an address are those of many clients.
    func isProxy(_ address: String) -> Bool {
      guard let address = IPAddress(address) else { return false }
      guard let proxies else { return clientAddressHeader != nil || address.isLoopback }
      return proxies.contains { $0.contains(address) }
    }
  }
}

extension ServerConfiguration.Limits {
  /// Reads the key `limits` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    self.init()
    try reader.allow([
      "privateDatabaseBytes", "requestRates", "clientAddressHeader", "proxies",
      "connectionsPerAddress", "connectionsPerNetwork", "requestSeconds", "matchingIndexBytes",
      "searchCacheBytes", "silentPushInterval", "waitingPushes", "publicDatabaseBytes",
      "subscriptionsPerUser", "zonesPerDatabase", "recordTypesPerContainer", "fieldsPerRecordType",
      "apnsDevicesPerUser", "courierReadersPerUser", "undeliveredPushes",
      "undeliveredPushesPerUser",
    ])
    publicDatabaseBytes =
      try reader.int("publicDatabaseBytes", in: 1...Int64(1) << 60).map { Int64($0) }
    func count(_ key: String, _ value: inout Int) throws(ConfigurationError) {
      value = try reader.int(key, in: 1...1_000_000_000) ?? value
    }
    try count("subscriptionsPerUser", &subscriptionsPerUser)
    try count("zonesPerDatabase", &zonesPerDatabase)
    try count("recordTypesPerContainer", &recordTypesPerContainer)
    try count("fieldsPerRecordType", &fieldsPerRecordType)
    try count("apnsDevicesPerUser", &apnsDevicesPerUser)
    try count("courierReadersPerUser", &courierReadersPerUser)
    try count("undeliveredPushes", &undeliveredPushes)
    try count("undeliveredPushesPerUser", &undeliveredPushesPerUser)
    privateDatabaseBytes =
      try reader.int("privateDatabaseBytes", in: 1...Int64(1) << 60).map { Int64($0) }
    clientAddressHeader = try reader.string("clientAddressHeader")
    if reader.json["proxies"] != nil { proxies = try reader.networks("proxies") }
    connectionsPerAddress =
      try reader.int("connectionsPerAddress", in: 1...1_000_000) ?? connectionsPerAddress
    connectionsPerNetwork =
      try reader.int("connectionsPerNetwork", in: 1...1_000_000) ?? connectionsPerNetwork
    requestSeconds = try reader.int("requestSeconds", in: 1...3_600) ?? requestSeconds
    matchingIndexBytes =
      try reader.int("matchingIndexBytes", in: 0...Int64(1) << 60) ?? matchingIndexBytes
    searchCacheBytes =
      try reader.int("searchCacheBytes", in: 0...Int64(1) << 60) ?? searchCacheBytes
    if let interval = reader.json["silentPushInterval"] {
      guard let seconds = interval.double, (0...86_400).contains(seconds) else {
        throw reader.mistake(
          "silentPushInterval", "'silentPushInterval' must be a number of seconds from 0 to 86400")
      }
      silentPushInterval = seconds
    }
    waitingPushes = try reader.int("waitingPushes", in: 1...1_000_000_000) ?? waitingPushes
    guard let rates = try reader.object("requestRates") else { return }
    try rates.allow(RequestRate.Subject.allCases.map(\.rawValue))
    for subject in RequestRate.Subject.allCases {
      guard let rate = try rates.object(subject.rawValue) else { continue }
      try rate.allow(["perSecond", "burst"])
      guard let perSecond = rate.json["perSecond"]?.double, perSecond > 0, perSecond <= 1e6 else {
        throw rate.mistake("perSecond", "'perSecond' must be a number above 0, at most 1000000")
      }
      let burst =
        try rate.int("burst", in: 1...1_000_000) ?? max(1, Int((perSecond * 10).rounded(.up)))
      requestRates[subject] = RequestRate(perSecond: perSecond, burst: burst)
    }
  }
}

extension ServerConfiguration {
  /// What the store refuses beyond.
  var quotas: [StoreQuotas.Subject: Int] {
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
    quotas[.browsersPerUser] = webPush?.browsersPerUser
    quotas[.webhooksPerKey] = webhooks?.webhooksPerKey
    return quotas
  }
}

extension ServerConfiguration.Limits {
  /// Bytes that a database of this scope may have; nil for any number.
  func bytes(of scope: DatabaseScope) -> Int64? {
    switch scope {
    case .private: privateDatabaseBytes
    case .public: publicDatabaseBytes
    case .shared: nil
    }
  }
}
