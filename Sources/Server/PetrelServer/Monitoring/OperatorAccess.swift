import Configuration
import Cryptography
import DatabaseAPI
import HTTPService
import OutboundHTTP

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
