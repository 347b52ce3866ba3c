import Foundation

extension ServerConfiguration {
  /// Limits for those who use the server, and of its memory. Without a value there is none.
  public struct Limits: Sendable, Hashable {
    /// Bytes of the records and assets of one private database. What would make it larger is
    /// refused with `QUOTA_EXCEEDED`.
    public var privateDatabaseBytes: Int64?
    public var requestRates: [RequestRate.Subject: RequestRate] = [:]
    /// The header field in which a proxy in front tells the client's address, such as
    /// `X-Forwarded-For`. Name one only when all requests come through the proxy.
    public var clientAddressHeader: String?
    /// Bytes of memory for the databases' matching indexes, as estimated. Those that went unused
    /// longest make room; the one that was used last stays however large it is.
    public var matchingIndexBytes = 1 << 30
    /// Bytes of memory for what searches keep of the value index. With 0 they keep nothing.
    public var searchExtractBytes = 128 << 20
    /// Seconds between two silent pushes to a device; 0 for no limit. Those that come meanwhile wait,
    /// and become one for each subscription.
    public var silentPushInterval = 0.0
    /// When more pushes than these wait, silent ones for a device become one whatever their
    /// subscriptions.
    public var waitingPushes = 1_000_000

    public init() {}
  }
}

extension ServerConfiguration.Limits {
  /// Reads the key `limits` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    self.init()
    try reader.allow([
      "privateDatabaseBytes", "requestRates", "clientAddressHeader", "matchingIndexBytes",
      "searchExtractBytes", "silentPushInterval", "waitingPushes",
    ])
    privateDatabaseBytes =
      try reader.int("privateDatabaseBytes", in: 1...Int64(1) << 60).map { Int64($0) }
    clientAddressHeader = try reader.string("clientAddressHeader")
    matchingIndexBytes =
      try reader.int("matchingIndexBytes", in: 0...Int64(1) << 60) ?? matchingIndexBytes
    searchExtractBytes =
      try reader.int("searchExtractBytes", in: 0...Int64(1) << 60) ?? searchExtractBytes
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
