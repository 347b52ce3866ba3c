import CloudKitModel
import HTTPService

extension SignIn {
  /// The most bytes of a name. No account has a longer one.
  private static let nameLimit = 255

  /// Signs in a user who sends the name and the password of an account.
  ///
  /// An unknown name and a wrong password get the same answer, after the same time.
  /// ``SignInAttempts`` limits the attempts: too many wrong ones get the status 429.
  ///
  /// - Throws: ``Refusal`` if the server accepts no passwords, or if the form is not valid.
  func checkPassword(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (visit, fields) = try await sentForm(request)
    guard settings.acceptsPasswords else {
      throw Refusal(status: 403, reason: "This server does not accept passwords.")
    }
    let name = fields["name"] ?? ""
    let password = fields["password"] ?? ""
    let staysSignedIn = fields["stay"] == "yes"
    func again(_ problem: String, status: Int) -> WebPage {
      var form = form(for: visit, problem: problem)
      form.name = name
      form.staysSignedIn = staysSignedIn
      return SignInPage.form(form, status: status)
    }
    guard !name.isEmpty, !password.isEmpty else {
      return again("Enter your name and your password.", status: 400).response()
    }
    guard name.utf8.count <= Self.nameLimit, !name.utf8.contains(0),
      Account.passwordSizes.contains(password.utf8.count)
    else { return again(Self.wrong, status: 403).response() }
    let address = ClientAddress.network(of: request, header: addressHeader)
    let verdict = try await attempts.begin(account: name, address: address, at: clock())
    if case .wait(let seconds) = verdict {
      let whole = Int(seconds.rounded(.up))
      log.warning("sign-in: too many wrong passwords", ["address": .string(address)])
      return again(
        "There were too many wrong passwords. Wait \(whole) seconds and try again.", status: 429
      ).response(headers: [("Retry-After", String(whole))])
    }
    let hash = try await accounts.passwordHash(ofUserNamed: name)
    guard try await passwords.isMatch(password, hash),
      let user = try await accounts.user(named: name)
    else {
      log.info("sign-in: wrong name or password", ["address": .string(address)])
      return again(Self.wrong, status: 403).response()
    }
    try await attempts.succeeded(account: name, address: address)
    return try await deliver(user, to: visit.request, staysSignedIn: staysSignedIn)
  }

  /// The message for a wrong name or password.
  ///
  /// It does not say which of them is wrong, so that nobody learns the names of accounts from it.
  private static let wrong =
    "The name or the password is not right. Enter the account's name with its upper and lower case; "
    + "an e-mail address does not replace it."
}
