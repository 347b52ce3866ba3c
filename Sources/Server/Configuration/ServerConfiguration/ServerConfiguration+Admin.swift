import Foundation
import OutboundHTTP
import Settings

extension ServerConfiguration {
  /// What those who run the server may do over HTTP.
  public struct Admin: Sendable, Hashable {
    /// Whether there is an admin API. Nil: where only this machine can reach it.
    public var isEnabled: Bool?
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
  /// Settings of the whole, for whether the API is there depends on the address, too.
  static let settings = SettingTable(
    ServerConfiguration(dataDirectory: ""),
    [
      .init(
        "enabled", \.admin.isEnabled, .boolean,
        default: "`true` where only this machine can reach the server",
        shown: { .bool($0.servesAdmin) },
        "Whether the API is there."),
      .init(
        "console", \.admin.hasConsole, .boolean,
        "Whether the pages of the console are there where the API is."),
      .init(
        "networks", \.admin.networks, .networks, default: "any",
        "The addresses that may use the API, such as `[\"10.0.0.0/8\"]`."),
    ])
}
