import Foundation
import OutboundHTTP

extension ServerConfiguration {
  /// Which servers of others may be posted to. Those that register a URL choose the server.
  public struct Outbound: Sendable, Hashable {
    /// Ranges of addresses that are allowed although they are not of the public Internet.
    public var allowedNetworks: [IPNetwork] = []
    /// Whether URLs without TLS are taken.
    public var allowsHTTP = false
    /// A file with the certificates to trust instead of the system's.
    public var authorityFile: String?
    /// Connections that may be open at once.
    public var connections = 256
    /// Seconds to the end of an answer.
    public var timeout = 30.0

    public init() {}

    var rules: AddressRules { AddressRules(allowed: allowedNetworks) }

    /// What a client for these servers may do.
    func client(waitingPerOrigin: Int) -> HTTPClient.Configuration {
      var client = HTTPClient.Configuration()
      client.waitingPerOrigin = waitingPerOrigin
      client.connections = connections
      client.time = timeout
      client.connectTime = min(client.connectTime, timeout)
      client.rules = rules
      client.allowsHTTP = allowsHTTP
      client.authorityFile = authorityFile
      return client
    }
  }

  /// Pushes to browsers.
  public struct WebPush: Sendable, Hashable {
    /// A `mailto:` or `https:` URL where push services reach the operator.
    public var subject: String
    /// A P-256 key in PEM form, instead of the one that the server makes and keeps in its store.
    public var keyFile: String?
    /// Browsers that a user may have registered in a container's environment.
    public var browsersPerUser = 20
    public var outbound = Outbound()

    public init(subject: String, keyFile: String? = nil) {
      self.subject = subject
      self.keyFile = keyFile
    }
  }

  /// Posts to programs.
  public struct Webhooks: Sendable, Hashable {
    /// Webhooks that a server-to-server key may have.
    public var webhooksPerKey = 10
    public var outbound = Outbound()

    public init() {}
  }
}

extension ServerConfiguration.WebPush {
  private static let keys = ["subject", "keyFile", "browsersPerUser"]

  /// Reads the key `webPush` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(Self.keys + ServerConfiguration.Outbound.keys)
    self.init(
      subject: try reader.required("subject"),
      keyFile: try reader.string("keyFile").map { reader.file($0) })
    guard subject.hasPrefix("mailto:") || subject.hasPrefix("https://") else {
      throw reader.mistake(
        "subject", "'subject' must begin with mailto: or https://, not '\(subject)'")
    }
    browsersPerUser = try reader.int("browsersPerUser", in: 1...1000) ?? browsersPerUser
    outbound = try ServerConfiguration.Outbound(reader)
  }
}

extension ServerConfiguration.Webhooks {
  /// Reads the key `webhooks` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(["webhooksPerKey"] + ServerConfiguration.Outbound.keys)
    self.init()
    webhooksPerKey = try reader.int("webhooksPerKey", in: 1...1000) ?? webhooksPerKey
    outbound = try ServerConfiguration.Outbound(reader)
  }
}

extension ServerConfiguration.Outbound {
  fileprivate static let keys = [
    "allowedNetworks", "allowsHTTP", "authorityFile", "connections", "timeoutSeconds",
  ]

  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    self.init()
    allowedNetworks = try reader.networks("allowedNetworks")
    allowsHTTP = try reader.bool("allowsHTTP") ?? allowsHTTP
    authorityFile = try reader.string("authorityFile").map { reader.file($0) }
    if let authorityFile, !FileManager.default.isReadableFile(atPath: authorityFile) {
      throw reader.mistake("authorityFile", "'authorityFile' \(authorityFile) cannot be read")
    }
    connections = try reader.int("connections", in: 1...10_000) ?? connections
    timeout = try reader.int("timeoutSeconds", in: 1...300).map(Double.init) ?? timeout
  }
}

extension ConfigurationReader {
  /// A list of ranges of addresses; empty without the key.
  func networks(_ key: String) throws(ConfigurationError) -> [IPNetwork] {
    guard let value = json[key] else { return [] }
    guard let elements = value.array else {
      throw mistake(key, "'\(key)' must be an array, not \(value.kind)")
    }
    var networks: [IPNetwork] = []
    for element in elements {
      guard let network = element.string.flatMap(IPNetwork.init) else {
        throw mistake(
          key, "'\(key)' must have ranges such as 10.0.0.0/8 or fd00::/8, not \(element.text)")
      }
      networks.append(network)
    }
    return networks
  }
}
