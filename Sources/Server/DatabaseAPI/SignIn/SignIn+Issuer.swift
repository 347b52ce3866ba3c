import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import JSONCoding
import OpenIDConnect
import StoreModel

/// The sign-in at an OpenID Connect issuer, which is another service that knows the user.
///
/// The server stores nothing while the browser is at the issuer. The data of the sign-in is in the
/// parameter `state`, sealed for that browser, and the issuer sends the parameter back. The server
/// derives the other secrets of the exchange from `state`.
extension SignIn {
  /// The most seconds between ``leave(_:for:named:)`` and the browser's return from the issuer.
  private static let absence = 600.0
  /// The fields that ``passOn(_:from:)`` copies from an issuer's form into the query of a URL.
  private static let answerFields = ["state", "code", "iss", "error", "user"]
  /// The most bytes of one of these fields.
  private static let answerLimit = 4096

  /// The buttons of the form, one for each issuer, in the order of their names.
  var choices: [SignInPage.Choice] {
    issuers.sorted { $0.key < $1.key }.map { name, issuer in
      SignInPage.Choice(
        action: "\(publicURL())\(Self.path)/with/\(name)", label: issuer.settings.label)
    }
  }

  /// Answers with a page that loads the issuer's URL by itself.
  ///
  /// If the server cannot make that URL, the answer is the form with a message.
  func leave(
    _ request: HTTPRequest, for issuer: Issuer, named name: String
  ) async throws -> HTTPResponse {
    let (visit, fields) = try await sentForm(request)
    let state = try await seal().seal(
      [
        "request": .string(visit.state), "issuer": .string(name),
        "stay": .bool(fields["stay"] == "yes"),
        "once": .string(Base64URL.encode(SecureRandom.bytes(count: 12))),
      ], for: "issuer", holder: visit.holder, until: clock().advanced(bySeconds: Self.absence))
    do {
      let url = try await issuer.url(
        for: try await authorization(state: state, holder: visit.holder, name: name))
      return SignInPage.passage(to: url, name: issuer.settings.label).response()
    } catch let error as OpenIDError {
      return page(for: error, at: issuer, visit)
    }
  }

  /// Answers an issuer that sends its result in a form: with a page that sends the browser to
  /// ``comeBack(_:from:named:)``.
  ///
  /// The form comes from another site, so the browser does not send the cookie with it. It sends
  /// the cookie with the second request.
  func passOn(_ request: HTTPRequest, from name: String) throws -> HTTPResponse {
    let fields = request.formFields.filter { Self.answerFields.contains($0.name) }
    guard fields.allSatisfy({ $0.value.utf8.count <= Self.answerLimit }),
      Set(fields.map(\.name)).count == fields.count
    else { throw Refusal(status: 400, reason: "The sign-in service's answer is too long.") }
    let query = fields.map {
      "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "")"
    }
    return SignInPage.passage(
      to: "\(publicURL())\(Self.path)/from/\(name)?\(query.joined(separator: "&"))",
      name: "signing in"
    ).response()
  }

  /// Signs in the user with the code that the browser brings back from the issuer.
  ///
  /// - Throws: ``Refusal`` if this browser did not begin the sign-in, or began it too long ago.
  func comeBack(
    _ request: HTTPRequest, from issuer: Issuer, named name: String
  ) async throws -> HTTPResponse {
    guard let state = request.query("state"),
      let holder = SignInVisit.holder(inCookies: request.header("Cookie")),
      let members = try await seal().open(state, for: "issuer", holder: holder, at: clock()),
      members["issuer"]?.string == name
    else {
      throw Refusal(
        status: 403,
        reason: "This sign-in began in another browser, or too long ago. Sign in again from "
          + "the app.")
    }
    let visit = try await visit(request, state: members["request"]?.string)
    do {
      // A code must not go to another issuer than the one that made it (RFC 9207).
      guard request.query("iss").map({ $0 == issuer.settings.issuer }) ?? true else {
        throw OpenIDError(.badAnswer, "the answer names another issuer")
      }
      guard let code = request.query("code"), !code.isEmpty else {
        throw OpenIDError(
          .refused, "an error instead of a code: '\((request.query("error") ?? "").prefix(100))'")
      }
      var identity = try await issuer.identity(
        forCode: code, of: try await authorization(state: state, holder: holder, name: name))
      // Only some issuers send a name, and sign-in works without one.
      if let text = request.query("user"), let json = try? JSONValue(parsing: Data(text.utf8)) {
        identity.addNames(fromApple: json)
      }
      let user = try await accounts.user(
        boundTo: IssuedIdentity(issuer: identity.issuer, subject: identity.subject),
        proposing: "\(name):\(identity.subject)", profile: UserProfile(identity), at: clock())
      return try await deliver(
        user, to: visit.request, staysSignedIn: members["stay"] == .bool(true))
    } catch let error as OpenIDError {
      return page(for: error, at: issuer, visit)
    }
  }

  /// Returns the request to the issuer, with the two secrets that the server derives from `state`.
  private func authorization(
    state: String, holder: String, name: String
  ) async throws -> AuthorizationRequest {
    let seal = try await seal()
    return AuthorizationRequest(
      redirectURL: "\(publicURL())\(Self.path)/from/\(name)", state: state,
      nonce: seal.derive(state, for: "nonce", holder: holder),
      verifier: seal.derive(state, for: "verifier", holder: holder))
  }

  /// Returns the form with an error message. The log has more details than the message.
  private func page(
    for error: OpenIDError, at issuer: Issuer, _ visit: SignInVisit
  ) -> HTTPResponse {
    log.warning(
      "sign-in failed at an issuer",
      ["issuer": .string(issuer.settings.issuer), "cause": .string("\(error)")])
    let (status, problem) =
      switch error.code {
      case .refused: (403, "You were not signed in by “\(issuer.settings.label)”. Try again.")
      case .overloaded: (503, "Too many people are signing in. Try again in a minute.")
      default:
        (502, "“\(issuer.settings.label)” does not work at the moment; see the server's log.")
      }
    return SignInPage.form(form(for: visit, problem: problem), status: status).response(
      headers: visit.cookieHeader)
  }
}

extension UserProfile {
  /// Creates the profile of a user from the data of an issuer. An invalid mail address is left out,
  /// and so are names that do not fit into a profile.
  fileprivate init(_ identity: IssuerIdentity) {
    var names = PersonNameComponents()
    names.givenName = identity.givenName
    names.middleName = identity.middleName
    names.familyName = identity.familyName
    names.nickname = identity.nickname
    // Data of an issuer may not fit into a profile; then less of it is kept.
    let profile = try? UserProfile(
      emailAddress: identity.emailAddress, phoneNumber: nil, nameComponents: names)
    // Data of an issuer may not fit into a profile; then less of it is kept.
    let bare = try? UserProfile(emailAddress: nil, phoneNumber: nil, nameComponents: names)
    self = profile ?? bare ?? UserProfile()
  }
}
