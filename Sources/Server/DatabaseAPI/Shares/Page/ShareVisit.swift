import CloudKitModel
import Foundation
import HTTPService
import Storage
import StoreModel

/// The request of a signed-in user for the page of a share.
struct ShareVisit: Sendable {
  let shortGUID: String
  let session: ShareSession
  let seal: TextSeal
  let pages: SharePages
  /// The time at which the search for the share began.
  private let began = ContinuousClock.now

  private var signIn: SignIn { pages.signIn }

  // MARK: The page

  /// Shows the share to a user who may see it. Every other user gets the refusal.
  func show() async throws -> HTTPResponse {
    guard let address = try await pages.address(ofShare: shortGUID),
      case .success(let share) = try await pages.shares.shares(
        [ShareRequest(shortGUID: shortGUID)], for: session.user, of: address.container,
        in: address.environment
      ).first
    else { return try await refusal() }
    let visitor = try await visitor()
    switch share.participant.acceptance {
    case .accepted:
      return response(
        SharePage.membership(in: share, for: visitor, appURL: appURL(of: address)))
    case .pending, .removed, .unknown:
      return response(SharePage.invitation(to: share, for: visitor))
    }
  }

  /// Refuses the link, after a time that does not depend on the link.
  private func refusal() async throws -> HTTPResponse {
    signIn.log.info(
      "the page of a share refused a user",
      ["share": .string(ShareURL.hash(of: shortGUID)), "user": .string(session.user)])
    let page = SharePage.refusal(of: try await visitor())
    try await pause()
    return response(page)
  }

  /// Waits until the time of the answer does not show how the search went.
  private func pause() async throws {
    try await Task.sleep(for: RefusalPace.pause(after: .now - began))
  }

  private func visitor() async throws -> SharePage.Visitor {
    SharePage.Visitor(
      name: try await pages.accounts.user(withRecordName: session.user)?.name ?? session.user,
      proof: session.proof(for: shortGUID, seal, at: signIn.clock()))
  }

  private func response(_ page: WebPage) -> HTTPResponse {
    page.response(headers: session.cookieHeader)
  }

  /// Returns the URL that opens the app of a container; nil if none is configured.
  private func appURL(of address: DatabaseAddress) -> String? {
    pages.containers[address.container]?.shares.appLink?.url(
      shortGUID: shortGUID,
      shareURL: ShareURL(publicURL: signIn.publicURL()).text(shortGUID: shortGUID, title: nil))
  }

  // MARK: The form

  /// Carries out the answer of a form.
  ///
  /// - Throws: `SignIn.Refusal` with the status 403 without the proof that this session was shown the
  ///   page of this share, and for a form of another origin; with 400 for an unknown answer.
  func take(_ request: HTTPRequest) async throws -> HTTPResponse {
    let fields = Dictionary(
      request.formFields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    try signIn.checkOrigin(of: request)
    let proof = fields["proof"] ?? ""
    guard session.accepts(proof: proof, for: shortGUID, seal, at: signIn.clock()) else {
      throw SignIn.Refusal(
        status: 403,
        reason: "The form was not made for you and this link, or is too old. Open the link again.")
    }
    guard let answer = fields["answer"].flatMap(SharePage.Answer.init) else {
      throw SignIn.Refusal(status: 400, reason: "The form has no answer. Open the link again.")
    }
    switch answer {
    case .accept: return try await accept()
    case .ask: return try await ask()
    case .later:
      return response(
        SharePage.notice(
          "Nothing has changed. You can open the link again at any time.", title: "Not now"))
    case .signOut:
      try await session.end(in: pages.tokens)
      let publicURL = signIn.publicURL()
      return SharePage.stranger().response(
        headers: [ShareSession.cookie("", for: 0, at: publicURL)])
    }
  }

  /// Makes the user a participant, as `records/accept` does.
  private func accept() async throws -> HTTPResponse {
    guard let address = try await pages.address(ofShare: shortGUID) else {
      return try await refusal()
    }
    do {
      let share = try await pages.shares.accept(
        ShareRequest(shortGUID: shortGUID), by: ChangeOrigin(userRecordName: session.user),
        of: address.container, in: address.environment, timestamp: signIn.clock())
      return response(SharePage.accepted(share, appURL: appURL(of: address)))
    } catch let failure as ItemFailure {
      if [.notFound, .mayNeedVerification, .accessDenied].contains(failure.code) {
        return try await refusal()
      }
      return response(
        SharePage.notice(
          "You could not accept this share: \(failure.reason).", title: "Not accepted", status: 409)
      )
    }
  }

  /// Requests access, and thanks the user in any case.
  private func ask() async throws -> HTTPResponse {
    if let address = try await pages.address(ofShare: shortGUID) {
      do {
        try await pages.shares.requestAccess(
          to: shortGUID, for: session.user, of: address.container, in: address.environment,
          timestamp: signIn.clock())
      } catch is ItemFailure {
        // The answer does not say what became of the request.
      }
    }
    try await pause()
    return response(
      SharePage.notice(
        "Thank you. If somebody shares this and takes requests, they can see yours.",
        title: "Asked for access"))
  }
}
