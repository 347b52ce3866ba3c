import Foundation
import OutboundHTTP
import Settings

extension ServerConfiguration {
  /// The settings of the admin API and the console (`admin`).
  public struct Admin: Sendable, Hashable {
    /// Whether the admin API is on. Nil means that the API is on if only this machine can reach the
    /// server (``ServerConfiguration/servesAdmin``).
    public var isEnabled: Bool?
    /// Whether the console is on. It has no effect while the admin API is off.
    public var hasConsole = true
    /// The networks whose addresses may use the admin API; an empty list permits all addresses.
    public var networks: [IPNetwork] = []

    /// Creates the default settings.
    public init() {}
  }

  /// Whether the admin API is on. Without `admin.enabled`, the API is on if only this machine can
  /// reach the server.
  public var servesAdmin: Bool { admin.isEnabled ?? isOnlyForThisMachine }

  /// Whether only this machine can reach the server: it listens on a loopback address, and its
  /// public URL, if there is one, names a loopback host.
  var isOnlyForThisMachine: Bool {
    Self.isLoopback(address)
      && (publicURL.map { url in
        URLComponents(string: url)?.encodedHost.map(Self.isLoopback) ?? false
      } ?? true)
  }

  /// Whether only this machine can reach a server at this address. The result is true for
  /// `localhost`, for an IPv4 address in 127.0.0.0/8, and for `::1` with or without brackets. It is
  /// false for all other names and addresses.
  public static func isLoopback(_ host: String) -> Bool {
    if host.lowercased() == "localhost" { return true }
    let text = host.trimmingCharacters(in: ["[", "]"])
    guard let address = IPAddress(text) else { return false }
    return address.isLoopback
  }
}

extension IPAddress {
  /// Whether the address is in 127.0.0.0/8, or is `::1`.
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
  }
}

extension ServerConfiguration.Admin {
  /// The table of the settings. The table works on the whole configuration, because the value of
  /// `enabled` in listings depends on the server's address.
  static let settings = SettingTable(
    ServerConfiguration(dataDirectory: ""),
    [
      .init(
        "enabled", \.admin.isEnabled, .boolean,
        default: "`true` where only this machine can reach the server",
        shown: { .bool($0.servesAdmin) },
        "Whether the server offers the API."),
      .init(
        "console", \.admin.hasConsole, .boolean,
        "Whether the server offers the console with the API."),
      .init(
        "networks", \.admin.networks, .networks, default: "any",
        "The addresses that may use the API, such as `[\"10.0.0.0/8\"]`."),
    ])
}
