import AdminAPI
import CommandInterface
import Testing

@testable import petrel

/// The handling of the user's words by commands that are made from endpoints.
struct AdminCommandTests {
  private static let share = AdminCommand(
    "shares show", "Shows a share.", example: "petrel shares show", .get("shares/show"),
    operands: ["share"])
  private static let grant = AdminCommand(
    "roles grant", "Grants a role.", example: "petrel roles grant", .post("roles/grant"),
    operands: ["role", "user"])
  private static let lookup = AdminCommand(
    "records get", "Shows records.", example: "petrel records get", .post("records/lookup"),
    operands: ["records…"])
  private static let account = AdminCommand(
    "users add", "Adds a user.", example: "petrel users add", .post("users/add"),
    operands: ["name"])
  private static let password = AdminCommand(
    "users password", "Sets a password.", example: "petrel users password", .post("users/password"),
    operands: ["user"])

  @Test("operands and options are the arguments of the endpoint")
  func declaration() throws {
    #expect(Self.share.operands == "SHARE" && Self.grant.operands == "ROLE USER")
    #expect(Self.lookup.operands == "NAME…")
    let needed = Self.share.options.filter(\.isRequired).map(\.usage)
    #expect(needed == ["--container IDENTIFIER", "--owner USER", "--zone NAME"])
    let environment = try #require(Self.share.options.first { $0.name == "environment" })
    #expect(environment.words == ["development", "production"])
    let own = ["password-from-stdin", "expires-in", "email", "phone", "given-name"]
    #expect(Set(own).isSubset(of: Self.account.options.map(\.name)))
    #expect(!Self.password.options.contains { $0.name.hasPrefix("password") }, "it is asked for")
  }

  @Test(
    "wrong words are refused before anything is done, by the rules of the arguments",
    arguments: [
      (share, "", "needs one SHARE: the name of the share's record"),
      (share, "a b", "needs one SHARE"), (grant, "editor", "needs a ROLE and a USER"),
      (lookup, "", "needs at least one NAME"), (share, "a", "needs --container IDENTIFIER"),
      (
        share, "a --container b",
        "--container must begin with 'iCloud.', as in iCloud.com.example.app, not 'b'"
      ),
      (
        share, "a --container iCloud.a --environment test",
        "--environment must be development or production, not 'test'"
      ), (share, "a --container iCloud.a --owner=", "needs --owner USER"),
      (
        lookup, "a --container iCloud.a --user anna", "--user needs --database private or shared"
      ),
      (
        lookup, "a --container iCloud.a --database private",
        "--database private needs --user, the user of the database"
      ), (account, "eva --email eva", "--email is not accepted: 'eva' is not an e-mail address"),
      (account, "eva --expires-in 1e30w", "--expires-in is too long"),
      (account, "eva --password-from-stdin --email eva", "--email is not accepted"),
    ])
  func mistakes(_ command: AdminCommand, _ words: String, _ expected: String) async throws {
    let arguments = try Arguments(
      words.split(separator: " ").map(String.init), options: command.options)
    let error = await #expect(throws: UsageError.self) { try await command.run(arguments) }
    #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
  }

  @Test("a failure names the option of the argument that the server names")
  func failures() throws {
    let arguments = try Arguments(["a"], options: Self.account.options)
    func words(_ reason: String) -> String {
      AdminFailure(reason).inWords(of: arguments).reason
    }
    #expect(words("body: 'lifetime' must be longer") == "--expires-in must be longer")
    #expect(words("body: 'givenName' is long") == "--given-name is long")
    #expect(words("body: 'name' is long") == "'name' is long", "an operand has no option")
    #expect(words("body: must be an object") == "body: must be an object")
  }
}

extension AdminCommand: CustomTestStringConvertible {
  public var testDescription: String { name }
}
