import Foundation
import OutboundHTTP
import Settings

extension ServerConfiguration {
  /// Who may read the server's metrics besides programs on its own machine.
  public struct Metrics: Sendable, Hashable {
    public var networks: [IPNetwork] = []
    /// What the token file has.
    public var token: String?

    public init() {}
  }
}

extension ServerConfiguration.Metrics {
  static let settings = SettingTable(
    ServerConfiguration.Metrics(),
    [
      .init(
        "networks", \.networks, .networks,
        "The addresses that may read it, such as `[\"10.0.0.0/8\"]`."),
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
