import CloudKitModel
import Configuration
import Cryptography
import Foundation
import HTTPService
import Storage
import StoreModel
import WebServices

/// The pages of the links of shares: `GET` and `POST /share/{shortGUID}`.
///
/// 1. A browser without a session gets one page, which is the same for every link. The server does
///    not search for the share.
/// 2. The page leads to the ``SignIn``, which sends the browser back with a ``ShareSession``.
/// 3. A user who may see the share gets its title, and accepts it with a form. Every other link is
///    refused in one way.
///
/// The server counts all requests by the network address of the browser, and those with a session
/// for the user too.
package struct SharePages: Sendable {
  /// The rate of an address. Links are random, so the rate need not be low; it keeps away programs
  /// that try links.
  private static let rate = RequestRate(perSecond: 5, burst: 100)
  /// The longest text that may be the identifier of a share. A real one has about 80 bytes.
  private static let lengthLimit = 200

  let shares: ShareService
  let accounts: AccountService
  let tokens: WebAuthTokens
  /// The sign-in, whose clock, log and seal the pages use.
  let signIn: SignIn
  /// The settings of the containers, by identifier. If it is empty, the server serves every
  /// container.
  let containers: [String: ServerConfiguration.Container]
  /// The request rates of users.
  let users: RequestThrottle
  /// The request rates of addresses.
  private let addresses: RequestThrottle

  init(
    store: Store, tokens: WebAuthTokens, signIn: SignIn,
    containers: [String: ServerConfiguration.Container], users: RequestThrottle
  ) {
    shares = store.shares
    accounts = store.accounts
    self.tokens = tokens
    self.signIn = signIn
    self.containers = containers
    self.users = users
    addresses = RequestThrottle(rates: [.address: Self.rate], sharing: store.sharedLimits)
  }

  /// Answers a request. A failure becomes a page. The server logs
  /// each failure of its own, with a hash in place of the identifier of the share.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let text = String(request.path.dropFirst(ShareURL.path.count))
    let shortGUID = text.utf8.count > Self.lengthLimit ? "" : text
    do {
      let network = ClientAddress.network(of: request, header: signIn.addressHeader)
      // Servers that share a store count these requests apart from those of the protocol.
      let key = RequestThrottle.Key(subject: .address, name: "share pages \(network)")
      try await addresses.admit([key], at: signIn.clock())
      return try await answer(request, to: shortGUID)
    } catch let refusal as SignIn.Refusal {
      return SharePage.notice(
        refusal.reason, title: "This did not work", status: refusal.status
      ).response()
    } catch {
      let error = ServiceError(any: error)
      if !Task.isCancelled, error.code != .throttled {
        signIn.log.error(
          "the page of a share failed",
          [
            "uuid": .string(error.uuid), "share": .string(ShareURL.hash(of: shortGUID)),
            "cause": .string("\(error)"),
          ])
      }
      return WebPage.failure(error, protection: SharePage.protection)
    }
  }

  private func answer(_ request: HTTPRequest, to shortGUID: String) async throws -> HTTPResponse {
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      return SharePage.notice(
        "Open the link in a browser.", title: "This did not work", status: 405
      ).response(headers: [("Allow", "GET, HEAD, POST")])
    }
    let publicURL = signIn.publicURL()
    guard let session = try await ShareSession(request, in: tokens, at: publicURL) else {
      if request.method == "POST" { return SharePage.stranger(status: 403).response() }
      guard request.query("sign-in") != nil else { return SharePage.stranger().response() }
      return HTTPResponse(
        status: 303,
        headers: SharePage.protection + [
          ("Location", try await signIn.url(for: SignInRequest(sharePage: shortGUID)))
        ])
    }
    try await users.admit([.init(subject: .user, name: session.user)], at: signIn.clock())
    let visit = ShareVisit(
      shortGUID: shortGUID, session: session, seal: try await signIn.seal(), pages: self)
    return try await request.method == "POST"
      ? visit.take(request) : visit.show()
  }

  /// Returns the private database of a share's owner; nil if the link leads nowhere, or to a container
  /// that the server does not serve.
  func address(ofShare shortGUID: String) async throws -> DatabaseAddress? {
    guard let address = try await shares.address(ofShare: shortGUID),
      containers.isEmpty || containers[address.container] != nil
    else { return nil }
    return address
  }
}
