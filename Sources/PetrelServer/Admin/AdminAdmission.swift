import HTTPService
import OutboundHTTP
import WebServices

/// Who comes to the admin API and the console at all, before anybody is asked for a key.
struct AdminAdmission: Sendable {
  private let isServed: Bool
  private let hasConsole: Bool
  private let networks: [IPNetwork]
  /// The header field in which a proxy tells the client's address.
  let addressHeader: String?

  init(_ configuration: ServerConfiguration) {
    isServed = configuration.servesAdmin
    hasConsole = configuration.admin.hasConsole
    networks = configuration.admin.networks
    addressHeader = configuration.limits.clientAddressHeader
  }

  /// - Throws: `NOT_FOUND` where there is no admin API, or no console and the request is for it;
  ///   `ACCESS_DENIED` for addresses that may not use it.
  func check(_ request: HTTPRequest) throws(ServiceError) {
    guard isServed else {
      throw ServiceError(
        .notFound,
        "the admin API and the console are off: they are on by themselves only where the server listens on a loopback "
          + "address, and elsewhere with \"admin\": {\"enabled\": true} in server.json")
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
}
