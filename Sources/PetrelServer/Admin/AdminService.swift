import CloudKitModel
import Foundation
import HTTPService
import Storage
import WebServices

/// What those who run the server reach over HTTP: the admin API.
final class AdminService: Sendable {
  private let isServed: Bool
  private let settings: ServerConfiguration.Admin
  private let addressHeader: String?
  private let authenticator: AdminAuthenticator
  private let router: AdminRouter
  private let journal: FailureJournal

  init(
    store: any RecordStore, configuration: ServerConfiguration, journal: FailureJournal,
    log: ServerLog, clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String
  ) {
    isServed = configuration.servesAdmin
    settings = configuration.admin
    addressHeader = configuration.limits.clientAddressHeader
    self.journal = journal
    let authenticator = AdminAuthenticator(
      store: store, addressHeader: addressHeader, clock: clock)
    self.authenticator = authenticator
    router = AdminRouter(
      [AdminSessionEndpoints(authenticator: authenticator, publicURL: publicURL)],
      authenticator: authenticator, log: log, clock: clock)
  }

  static func isPath(_ path: String) -> Bool {
    path.hasPrefix("/admin/") || path == "/admin"
  }

  /// The answer to a request whose path ``isPath(_:)``.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      try checkAdmission(of: request)
      return protected(try await router.answer(to: request))
    } catch {
      let failure = ServiceError(any: error)
      let response = (error as? WrongMethod)?.response(failure) ?? HTTPResponse(failure)
      journal.note(
        failure, status: response.status, of: request, operation: "admin", by: nil, cause: error)
      return protected(response)
    }
  }

  /// - Throws: `NOT_FOUND` where there is no admin API, `ACCESS_DENIED` for addresses that may not
  ///   use it.
  private func checkAdmission(of request: HTTPRequest) throws(ServiceError) {
    guard isServed else {
      throw ServiceError(
        .notFound,
        "the admin API is off: it is on by itself only where the server listens on a loopback "
          + "address, and elsewhere with \"admin\": {\"enabled\": true} in server.json")
    }
    guard !settings.networks.isEmpty else { return }
    let address = ClientAddress.address(of: request, header: addressHeader)
    guard let address, settings.networks.contains(where: { $0.contains(address) }) else {
      throw ServiceError(
        .accessDenied,
        "the admin API is not for this address; 'admin.networks' in server.json says for which")
    }
  }

  private func protected(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    response.headers += Self.protection
    return response
  }

  /// Header fields of every answer: nothing of it is kept, framed or taken for a page.
  private static let protection = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]
}
