import Foundation
import OutboundHTTP

extension ServerConfiguration {
  /// What those who run the server may do over HTTP.
  public struct Admin: Sendable, Hashable {
    /// Whether there is an admin API. Nil: where only this machine can reach it.
    public var isEnabled: Bool?
    /// Whether there are the pages of the console, where there is the API.
    public var hasConsole = true
    /// The addresses that may use it; any when empty.
    public var networks: [IPNetwork] = []

    public init() {}
  }

  /// Whether there is an admin API: as `admin.enabled` says, and without it where the server listens
  /// on a loopback address and is not known by another one.
  public var servesAdmin: Bool {
    admin.isEnabled
      ?? (Self.isLoopback(address)
        && (publicURL.map { url in
          URLComponents(string: url)?.encodedHost.map(Self.isLoopback) ?? false
        } ?? true))
  }

  /// Whether only this machine can reach what listens at this address.
  public static func isLoopback(_ host: String) -> Bool {
    if host.lowercased() == "localhost" { return true }
    let text = host.trimmingCharacters(in: ["[", "]"])
    guard let address = IPAddress(text) else { return false }
    return address.isLoopback
  }
}

extension IPAddress {
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
  }
}

extension ServerConfiguration.Admin {
  /// Reads the key `admin` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    self.init()
    try reader.allow(["enabled", "console", "networks"])
    isEnabled = try reader.bool("enabled")
    hasConsole = try reader.bool("console") ?? hasConsole
    networks = try reader.networks("networks")
  }
}
