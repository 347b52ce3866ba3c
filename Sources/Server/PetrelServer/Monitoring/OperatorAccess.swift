import Cryptography
import Foundation
import HTTPService
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

/// Who may read what concerns the operator.
struct OperatorAccess: Sendable {
  private static let loopback = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }

  private let networks: [IPNetwork]
  private let tokenHash: [UInt8]?
  private let addressHeader: String?

  init(_ configuration: ServerConfiguration) {
    networks = Self.loopback + configuration.metrics.networks
    tokenHash = configuration.metrics.token.map { SHA256.hash($0.utf8) }
    addressHeader = configuration.limits.clientAddressHeader
  }

  func admits(_ request: HTTPRequest) -> Bool {
    if let tokenHash, let field = request.header("Authorization"),
      field.lowercased().hasPrefix("bearer "),
      ConstantTime.areEqual(SHA256.hash(field.dropFirst(7).utf8), tokenHash)
    {
      return true
    }
    guard let address = ClientAddress.address(of: request, header: addressHeader) else {
      return false
    }
    return networks.contains { $0.contains(address) }
  }
}
