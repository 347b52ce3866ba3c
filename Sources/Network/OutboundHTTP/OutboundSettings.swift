import Foundation
import Settings

/// Which servers of others may be posted to. Those that register a URL choose the server.
public struct OutboundSettings: Sendable, Hashable {
  public var allowedNetworks: [IPNetwork] = []
  public var allowsHTTP = false
  public var authorityFile: String?
  public var connections = 256
  public var timeout = 30.0

  public init() {}

  package var rules: AddressRules { AddressRules(allowed: allowedNetworks) }
}

extension HTTPClient {
  /// - Parameters:
  ///   - waitingPerOrigin: the most requests that wait for one server.
  ///   - name: of the client's thread.
  /// - Throws: ``ConfigurationError`` when no requests can be sent.
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
      throw ConfigurationError("nothing can be sent to servers of others: \(error)")
    }
  }
}

extension OutboundSettings {
  package static let settings: [Setting<Self>] = [
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

  package func check(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let authorityFile, !FileManager.default.isReadableFile(atPath: authorityFile) else {
      return
    }
    throw reader.mistake("authorityFile", "'authorityFile' \(authorityFile) cannot be read")
  }
}

extension OutboundSettings {
  /// What there is to say of the settings of an object of the configuration.
  package func findings(in key: String) -> [Finding] {
    guard allowsHTTP else { return [] }
    return [
      .warning(
        "\(key).allowsHTTP: what is posted may be read on its way",
        "take it out unless all of these servers are on this machine")
    ]
  }
}

extension SettingKind {
  /// Ranges of addresses.
  package static let networks = SettingKind.list(
    SettingElements(
      "list of address ranges", rule: "must have ranges such as 10.0.0.0/8 or fd00::/8"
    ) { IPNetwork($0) != nil })
}
