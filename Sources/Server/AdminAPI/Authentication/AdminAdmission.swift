import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import OutboundHTTP
import WebServices

/// The rules that decide whether a request may reach the admin API and the console. They apply
/// before authentication.
struct AdminAdmission: Sendable {
  /// Whether the admin API is on.
  private let isServed: Bool
  /// Whether the console is on (`admin.console` in `server.json`).
  private let hasConsole: Bool
  /// The networks of `admin.networks`; an empty list admits all addresses.
  private let networks: [IPNetwork]
  /// Whether the API is on only by default: the configuration sets neither `admin.enabled` nor
  /// `admin.networks`. The API then serves only requests of programs on this machine.
  private let isOnByItself: Bool
  /// The header field in which a proxy writes the client's address; nil without a configured proxy.
  let addressHeader: String?

  /// Takes the rules from a configuration.
  init(_ configuration: ServerConfiguration) {
    isServed = configuration.servesAdmin
    hasConsole = configuration.admin.hasConsole
    networks = configuration.admin.networks
    isOnByItself = configuration.admin.isEnabled == nil && networks.isEmpty
    addressHeader = configuration.limits.clientAddressHeader
  }

  /// Checks whether a request may come in. The socket file in the data directory is always
  /// admitted.
  ///
  /// - Throws: `ACCESS_DENIED` if the address is in none of the configured networks. `NOT_FOUND` in
  ///   three cases:
  ///   - the admin API is off;
  ///   - the API is on only by default, and the request comes from elsewhere;
  ///   - the console is off, and the request is for the console.
  func check(_ request: HTTPRequest) throws(ServiceError) {
    if request.isFromSocketFile { return }
    guard isServed else {
      throw ServiceError(
        .notFound,
        "the admin API and the console are off; they are on by default only when the server listens on "
          + "a loopback address; to turn them on, set \"admin\": {\"enabled\": true} in server.json"
      )
    }
    guard !isOnByItself || isOfThisMachine(request) else {
      throw ServiceError(
        .notFound,
        "the request came through a proxy or for another host, and the admin API and the console accept "
          + "only requests of this machine; to accept others with an admin key, set "
          + "\"admin\": {\"enabled\": true} in server.json")
    }
    if !networks.isEmpty {
      let address = ClientAddress.address(of: request, header: addressHeader)
      guard let address, networks.contains(where: { $0.contains(address) }) else {
        throw ServiceError(
          .accessDenied,
          "the admin API refuses this address; 'admin.networks' in server.json lists the accepted ones"
        )
      }
    }
    guard hasConsole || !Console.isPath(request.path) else {
      throw ServiceError(
        .notFound, "the console is off: 'admin.console' in server.json is false")
    }
  }

  /// Whether a program on this machine sent the request to a loopback host.
  ///
  /// Two checks protect against requests of others. A proxy on this machine forwards requests of
  /// other machines, so requests with a proxy's header fields do not count. A browser on this
  /// machine may show a page whose host name resolves to a loopback address (DNS rebinding), so the
  /// `Host` field must name a loopback host.
  private func isOfThisMachine(_ request: HTTPRequest) -> Bool {
    if ClientAddress.isForwarded(request, header: addressHeader) { return false }
    guard let host = request.header("Host") else { return true }
    return URLComponents(string: "http://" + host)?.encodedHost
      .map(ServerConfiguration.isLoopback) ?? false
  }
}
