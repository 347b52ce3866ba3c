import Configuration
import Cryptography
import DatabaseAPI
import HTTPService
import OutboundHTTP

/// The rules that decide who may read the metrics and the details of health reports.
struct OperatorAccess: Sendable {
  /// The loopback networks, which are always admitted.
  private static let loopback = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }

  private let networks: [IPNetwork]
  /// The hash of the admitted token; nil if there is none.
  private let tokenHash: [UInt8]?
  /// The header field in which a proxy writes the client's address; nil without a proxy.
  private let addressHeader: String?

  init(_ configuration: ServerConfiguration) {
    networks = Self.loopback + configuration.metrics.networks
    tokenHash = configuration.metrics.token.map { SHA256.hash($0.utf8) }
    addressHeader = configuration.limits.clientAddressHeader
  }

  /// Whether a request has the token, or comes from an address in one of the networks.
  ///
  /// The token is compared in constant time. If a proxy forwarded the request and
  /// `limits.clientAddressHeader` is not set, the client's address is unknown. The request then
  /// needs the token.
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
