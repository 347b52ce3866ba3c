import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import OutboundHTTP
import WebServices

/// The rules that decide whether a request may reach the admin API and the console. They apply
/// before authentication.
struct AdminAdmission: Sendable {
  private let isServed: Bool
  private let hasConsole: Bool
  /// The networks of `admin.networks`; an empty list sets no limit.
  private let networks: [IPNetwork]
  /// Whether the configuration sets neither `admin.enabled` nor `admin.networks`. The API is then
  /// on only by default, and it serves only requests of programs on this machine.
  private let isOnByItself: Bool
  /// The header field in which a proxy writes the client's address; nil without a configured proxy.
  let addressHeader: String?

  init(_ configuration: ServerConfiguration) {
    isServed = configuration.servesAdmin
    hasConsole = configuration.admin.hasConsole
    networks = configuration.admin.networks
    isOnByItself = configuration.admin.isEnabled == nil && networks.isEmpty
    addressHeader = configuration.limits.clientAddressHeader
  }

  /// Throws an error unless the request may reach the API or the console. Requests through the
  /// socket file in the data directory are always admitted.
  ///
  /// - Throws: `ACCESS_DENIED` if the address is in none of the configured networks. `NOT_FOUND` in
  ///   three cases:
  ///   - the admin API is off;
  ///   - the API is on only by default, and the request does not come from a program on this
  ///     machine;
  ///   - the console is off, and the request is for the console.
  func check(_ request: HTTPRequest, isConsole: Bool) throws(ServiceError) {
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
    guard hasConsole || !isConsole else {
      throw ServiceError(
        .notFound, "the console is off: 'admin.console' in server.json is false")
    }
  }

  /// Whether a program on this machine sent the request to a loopback host.
  ///
  /// The sender's address needs no check, because the server listens only on a loopback address
  /// when the API is on by default. Two other checks are necessary:
  ///
  /// - A proxy on this machine may forward requests of other machines. The result is therefore
  ///   false for a request with a header field that proxies add.
  /// - A browser on this machine may show a page whose host name resolves to a loopback address
  ///   (DNS rebinding). The `Host` field must therefore name a loopback host, or be missing.
  private func isOfThisMachine(_ request: HTTPRequest) -> Bool {
    if ClientAddress.isForwarded(request, header: addressHeader) { return false }
    guard let host = request.header("Host") else { return true }
    return URLComponents(string: "http://" + host)?.encodedHost
      .map(ServerConfiguration.isLoopback) ?? false
  }
}
