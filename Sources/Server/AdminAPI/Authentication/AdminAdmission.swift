import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import OutboundHTTP
import WebServices

/// Who comes to the admin API and the console at all, before anybody is asked for a key.
struct AdminAdmission: Sendable {
  private let isServed: Bool
  private let hasConsole: Bool
  private let networks: [IPNetwork]
  /// Whether nobody said that it shall be there, so that it is for this machine alone.
  private let isOnByItself: Bool
  /// The header field in which a proxy tells the client's address.
  let addressHeader: String?

  init(_ configuration: ServerConfiguration) {
    isServed = configuration.servesAdmin
    hasConsole = configuration.admin.hasConsole
    networks = configuration.admin.networks
    isOnByItself = configuration.admin.isEnabled == nil && networks.isEmpty
    addressHeader = configuration.limits.clientAddressHeader
  }

  /// - Throws: `NOT_FOUND` where there is no admin API, or no console and the request is for it;
  ///   `ACCESS_DENIED` for addresses that may not use it.
  func check(_ request: HTTPRequest) throws(ServiceError) {
    if request.isFromSocketFile { return }
    guard isServed else {
      throw ServiceError(
        .notFound,
        "the admin API and the console are off: they are on by themselves only where the server listens on a loopback "
          + "address, and elsewhere with \"admin\": {\"enabled\": true} in server.json")
    }
    guard !isOnByItself || isOfThisMachine(request) else {
      throw ServiceError(
        .notFound,
        "the admin API and the console are for this machine alone, and this request came through a proxy or for "
          + "another host; \"admin\": {\"enabled\": true} in server.json lets others in who have a key"
      )
    }
    if !networks.isEmpty {
      let address = ClientAddress.address(of: request, header: addressHeader)
      guard let address, networks.contains(where: { $0.contains(address) }) else {
        throw ServiceError(
          .accessDenied,
          "the admin API is not for this address; 'admin.networks' in server.json says for which")
      }
    }
    guard hasConsole || !Console.isPath(request.path) else {
      throw ServiceError(
        .notFound, "the console is off: 'admin.console' in server.json is false")
    }
  }

  /// Whether a program of this machine sent the request to this machine. A proxy on it sends those of
  /// others, and so does a browser on it whose page has a name that it was made to take for this
  /// machine's.
  private func isOfThisMachine(_ request: HTTPRequest) -> Bool {
    if ClientAddress.isForwarded(request, header: addressHeader) { return false }
    guard let host = request.header("Host") else { return true }
    return URLComponents(string: "http://" + host)?.encodedHost
      .map(ServerConfiguration.isLoopback) ?? false
  }
}
