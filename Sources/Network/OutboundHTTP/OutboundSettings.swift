import Foundation
import Settings

/// The settings for requests to servers of other people. The user who registers a URL chooses the
/// server.
public struct OutboundSettings: Sendable, Hashable {
  /// The address ranges that are allowed although they are not public (``AddressRules/allowed``).
  public var allowedNetworks: [IPNetwork] = []
  /// Whether URLs without TLS are allowed.
  public var allowsHTTP = false
  /// The path of a PEM file with the certificates to trust; `nil` for the system's certificates.
  public var authorityFile: String?
  /// The greatest number of open connections, 1 to 10,000.
  public var connections = 256
  /// The longest time from the start of a request to the end of the answer: 1 to 300 seconds.
  public var timeout = 30.0

  /// Creates settings with the defaults.
  public init() {}

  package var rules: AddressRules { AddressRules(allowed: allowedNetworks) }
}

extension HTTPClient {
  /// Starts a client. `waitingPerOrigin` limits the waiting requests of one scheme, host and port.
  package convenience init(
    _ settings: OutboundSettings, waitingPerOrigin: Int, name: String
  ) throws(ConfigurationError) {
    var configuration = Configuration()
    configuration.waitingPerOrigin = waitingPerOrigin
    configuration.connections = settings.connections
    configuration.time = settings.timeout
    configuration.connectTime = min(configuration.connectTime, settings.timeout)
    configuration.rules = settings.rules
    configuration.allowsHTTP = settings.allowsHTTP
    configuration.authorityFile = settings.authorityFile
    do {
      try self.init(configuration, name: name)
    } catch {
      throw ConfigurationError("the client for outgoing requests cannot be started: \(error)")
    }
  }
}

extension OutboundSettings {
  package static let settings: [Setting<Self>] = [
    .init(
      "allowedNetworks", \.allowedNetworks, .networks,
      "Address ranges that are allowed although they are not public, such as `[\"10.0.0.0/8\"]`."),
    .init("allowsHTTP", \.allowsHTTP, .boolean, "Whether URLs without TLS are allowed."),
    .init(
      "authorityFile", \.authorityFile, .file(.certificates), default: "the system's",
      "The certificates to trust, in PEM format."),
    .init(
      "connections", \.connections, .whole(1...10_000), "The connections that may be open at once."),
    .init(
      "timeoutSeconds", \.timeout, .whole(1...300, .seconds),
      "The time in which an answer must be complete."),
  ]

  /// Checks that the file ``authorityFile`` is readable, if there is one.
  package func check(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let authorityFile, !FileManager.default.isReadableFile(atPath: authorityFile) else {
      return
    }
    throw reader.mistake("authorityFile", "'authorityFile' \(authorityFile) cannot be read")
  }
}

extension OutboundSettings {
  /// Returns the warnings about these settings for `petrel doctor`.
  package func findings(in key: String) -> [Finding] {
    guard allowsHTTP else { return [] }
    return [
      .warning(
        "\(key).allowsHTTP: requests without TLS can be read on the network",
        "remove the setting unless all of these servers are on this machine")
    ]
  }
}

extension SettingKind {
  package static let networks = SettingKind.list(
    SettingElements(
      "list of address ranges", rule: "must have ranges such as 10.0.0.0/8 or fd00::/8"
    ) { IPNetwork($0) != nil })
}
