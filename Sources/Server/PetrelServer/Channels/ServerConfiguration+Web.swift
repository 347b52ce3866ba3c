import Foundation
import OutboundHTTP

extension ServerConfiguration {
  /// Which servers of others may be posted to. Those that register a URL choose the server.
  public struct Outbound: Sendable, Hashable {
    public var allowedNetworks: [IPNetwork] = []
    public var allowsHTTP = false
    public var authorityFile: String?
    public var connections = 256
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
    public var subject: String
    /// Nil for the key that the server makes and keeps in its store.
    public var keyFile: String?
    public var browsersPerUser = 20
    public var outbound = Outbound()

    public init(subject: String, keyFile: String? = nil) {
      self.subject = subject
      self.keyFile = keyFile
    }
  }

  /// Posts to programs.
  public struct Webhooks: Sendable, Hashable {
    public var webhooksPerKey = 10
    public var outbound = Outbound()

    public init() {}
  }
}

extension ServerConfiguration.WebPush {
  static let settings = SettingTable(
    ServerConfiguration.WebPush(subject: ""),
    [
      .init(
        "subject", \.subject, .text, required: true,
        "A `mailto:` or `https:` URL where push services reach the operator."),
      .init(
        "keyFile", \.keyFile, .file(.secret),
        default: "a key that the server makes and keeps in the store",
        "The server's key, P-256 in PEM format."),
      .init(
        "browsersPerUser", \.browsersPerUser, .whole(1...1_000), clientLimit: "browsersPerUser",
        "The browsers that a user may have registered in a container's environment."),
    ] + ServerConfiguration.Outbound.settings.map { $0.within(\.outbound) },
    rules: { reader, webPush throws(ConfigurationError) in
      let subject = webPush.subject
      guard subject.hasPrefix("mailto:") || subject.hasPrefix("https://") else {
        throw reader.mistake(
          "subject", "'subject' must begin with mailto: or https://, not '\(subject)'")
      }
      try webPush.outbound.check(reader)
    })
}

extension ServerConfiguration.Webhooks {
  static let settings = SettingTable(
    ServerConfiguration.Webhooks(),
    [
      .init(
        "webhooksPerKey", \.webhooksPerKey, .whole(1...1_000), clientLimit: "webhooksPerKey",
        "The webhooks that a server-to-server key may have.")
    ] + ServerConfiguration.Outbound.settings.map { $0.within(\.outbound) },
    rules: { reader, webhooks throws(ConfigurationError) in try webhooks.outbound.check(reader) })
}

extension ServerConfiguration.Outbound {
  fileprivate static let settings: [Setting<Self>] = [
    .init(
      "allowedNetworks", \.allowedNetworks, .networks,
      "Addresses that are allowed although they are not public, such as `[\"10.0.0.0/8\"]`."),
    .init("allowsHTTP", \.allowsHTTP, .boolean, "Whether URLs without TLS are allowed."),
    .init(
      "authorityFile", \.authorityFile, .file(.certificates), default: "the system's",
      "The certificates to trust, in PEM format."),
    .init(
      "connections", \.connections, .whole(1...10_000), "The connections that may be open at once."),
    .init(
      "timeoutSeconds", \.timeout, .whole(1...300, .seconds), "The time to the end of an answer."),
  ]

  fileprivate func check(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let authorityFile, !FileManager.default.isReadableFile(atPath: authorityFile) else {
      return
    }
    throw reader.mistake("authorityFile", "'authorityFile' \(authorityFile) cannot be read")
  }
}
