import Cryptography
import Foundation
import HTTPService
import OutboundHTTP

extension ServerConfiguration {
  /// Who may read the server's metrics besides programs on its own machine.
  public struct Metrics: Sendable, Hashable {
    /// Ranges of addresses.
    public var networks: [IPNetwork] = []
    /// What a client shows, as `Authorization: Bearer …`.
    public var token: String?

    public init() {}
  }
}

extension ServerConfiguration.Metrics {
  /// Reads the key `metrics` of a configuration file.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(["networks", "tokenFile"])
    self.init()
    networks = try reader.networks("networks")
    guard let name = try reader.string("tokenFile") else { return }
    let file = reader.file(name)
    guard let data = FileManager.default.contents(atPath: file) else {
      throw reader.mistake("tokenFile", "'tokenFile': \(file) cannot be read")
    }
    let text = String(decoding: data, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.utf8.count >= 16 else {
      throw reader.mistake(
        "tokenFile", "'tokenFile': \(file) must hold a token of at least 16 characters")
    }
    token = text
  }
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
