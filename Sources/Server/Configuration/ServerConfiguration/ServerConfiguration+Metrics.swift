import Foundation
import OutboundHTTP
import Settings

extension ServerConfiguration {
  /// The settings of `/metrics` (`metrics`). Programs on the server's own machine may always read
  /// the metrics.
  public struct Metrics: Sendable, Hashable {
    /// The networks whose addresses may read the metrics.
    public var networks: [IPNetwork] = []
    /// The token for `Authorization: Bearer …`, from the token file. It has at least 16 bytes. Nil
    /// means that no token permits access.
    public var token: String?

    /// Creates the default settings, which admit only programs on this machine.
    public init() {}
  }
}

extension ServerConfiguration.Metrics {
  static let settings = SettingTable(
    ServerConfiguration.Metrics(),
    [
      .init(
        "networks", \.networks, .networks,
        "The addresses that may read the metrics, such as `[\"10.0.0.0/8\"]`."),
      .part(
        "tokenFile", .file(.secret),
        "A file with a token of at least 16 characters, for `Authorization: Bearer …`."),
    ],
    rules: { reader, metrics throws(ConfigurationError) in
      guard let token = try reader.trimmedContents("tokenFile") else { return }
      guard token.utf8.count >= 16 else {
        throw reader.mistake(
          "tokenFile",
          "'tokenFile': \(reader.file("tokenFile") ?? "") must hold a token of at least 16 characters"
        )
      }
      metrics.token = token
    })
}
