import CloudKit
import JSONCoding
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct AccountCommandsTests {
  /// The exit status of mistakes in the words, after which nothing was done.
  private static let usage: Int32 = 64

  @Test("users are added, and given passwords and further tokens", arguments: Way.allCases)
  func users(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let added = try await shell.petrel(
        "users add eva --email eva@example.com --given-name Eva --password-from-stdin --json",
        input: "correct horse\n")
      #expect(added.status == 0, "\(added.output)")
      let user = try #require(added.json.first)
      #expect(user["name"] == "eva" && user["token"]?.string?.count == 64)
      let shown = try await shell.petrel("users show eva")
      #expect(shown.output.contains("eva@example.com"), "\(shown.output)")

      let token = try await shell.petrel("users add-token eva --expires-in 12h")
      #expect(token.status == 0 && token.output.count == 65, "\(token.output)")
      let password = try await shell.petrel("users password eva", input: "battery staple\n")
      #expect(password.status == 0 && password.output.isEmpty, "\(password.output)")
      let json = try await shell.petrel("users password eva --json", input: "battery staple\n")
      #expect(json.json.first?["name"] == "eva", "\(json.output)")

      if way == .onStore { try await shell.cloud.startServer() }
      for text in [user["token"]?.string ?? "", String(token.output.dropLast())] {
        let container = await shell.cloud.container(token: text, device: "phone")
        let recordName = try await container.userRecordID().recordName
        #expect(recordName == user["userRecordName"]?.string)
      }
    }
  }

  @Test("a user that cannot be made or found is told, and how to do it", arguments: Way.allCases)
  func wrongUsers(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let cases: [(words: String, input: String?, status: Int32, text: String)] = [
        (
          "users add anna", nil, 1,
          "a user named 'anna' already exists; choose another name (EXISTS)"
        ),
        (
          "users add Anna", nil, 1,
          "a user named 'anna' already exists, and 'Anna' differs from it only in case or spaces; choose another "
            + "name (EXISTS)"
        ),
        ("users add _eva", nil, 1, "users add: 'name' must not begin with '_'"),
        ("users add eva --email eva", nil, Self.usage, "'eva' is not an e-mail address"),
        ("users add eva --expires-in soon", nil, Self.usage, "--expires-in must be a time"),
        ("users add eva --expires-in 1e30w", nil, Self.usage, "--expires-in is too long"),
        ("users add eva --expires-in 9999w", nil, 1, ": --expires-in must be a whole number"),
        ("users add", nil, Self.usage, "needs one NAME"),
        ("users add eva --pasword-from-stdin", nil, Self.usage, "did you mean --password-from"),
        ("users add eva --password-from-stdin", "short\n", 1, "8 to 1024 bytes, not 5"),
        ("users password zoe", "correct horse\n", 1, "no user named 'zoe' (NOT_FOUND)"),
        ("users password anna", "short\n", 1, "8 to 1024 bytes, not 5"),
        ("users add-token zoe", nil, 1, "no user named 'zoe' (NOT_FOUND)"),
      ]
      for (words, input, status, text) in cases {
        let outcome = try await shell.petrel(words, input: input)
        #expect(outcome.status == status, "\(words): \(outcome.output)")
        #expect(outcome.output.contains(text), "\(words): \(outcome.output)")
      }
      let names = try await shell.petrel("users list --json").json.first?["users"]?.array
      #expect(names?.map { $0["name"] } == ["anna", "ben"])
    }
  }

  private static let schema = """
    DEFINE SCHEMA
    CREATE ROLE Editor;
    RECORD TYPE Note (title STRING QUERYABLE, GRANT READ, WRITE, CREATE TO Editor);
    """

  @Test("roles are given, listed and taken away", arguments: Way.allCases)
  func roles(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let none = try await shell.inContainer("roles list")
      #expect(none.output == "the schema has no roles of its own\n", "\(none.output)")
      try Data(Self.schema.utf8).write(
        to: URL(fileURLWithPath: shell.cloud.directory + "/app.ckdb"))
      let imported = try await shell.inContainer("schema import app.ckdb")
      #expect(imported.status == 0, "\(imported.output)")

      let granted = try await shell.inContainer("roles grant Editor anna")
      #expect(granted.status == 0 && granted.output.isEmpty, "\(granted.output)")
      let again = try await shell.inContainer("roles grant Editor anna --json")
      #expect(again.json.first?["member"] == "anna", "\(again.output)")
      #expect(try await shell.inContainer("roles list").output == "Editor: anna\n")
      let list = try await shell.inContainer("roles list --json")
      #expect(list.json == [["roles": [["role": "Editor", "members": ["anna"]]]]])
      let revoked = try await shell.inContainer("roles revoke Editor anna")
      #expect(revoked.status == 0, "\(revoked.output)")
      #expect(try await shell.inContainer("roles list").output == "Editor: nobody\n")

      for (words, status, text) in [
        ("roles grant Editr anna", 1, "has no role 'Editr'; it has 'Editor' (NOT_FOUND)"),
        ("roles grant Editor zoe", 1, "neither a user 'zoe' nor a server-to-server key"),
        ("roles grant Editor", Self.usage, "needs a ROLE and a USER"),
        ("roles grant Editor anna --enviroment x", Self.usage, "did you mean --environment?"),
      ] {
        let outcome = try await shell.inContainer(words)
        #expect(outcome.status == status, "\(words): \(outcome.output)")
        #expect(outcome.output.contains(text), "\(words): \(outcome.output)")
      }
    }
  }

  @Test("a role and a password change what a server that runs lets in, at once")
  func running() async throws {
    try await AdminShell.run(.overHTTP) { shell in
      try Data(Self.schema.utf8).write(
        to: URL(fileURLWithPath: shell.cloud.directory + "/app.ckdb"))
      _ = try await shell.inContainer("schema import app.ckdb")
      let notes = try await shell.cloud.container(of: "anna", device: "phone").publicCloudDatabase
      func save(_ name: String) async -> CKError.Code? {
        do {
          try await notes.save(CKRecord("Note", name, ["title": "x"]))
          return nil
        } catch {
          return (error as? CKError)?.code
        }
      }
      #expect(await save("a") == .permissionFailure)
      // By the server, and by the store beside it.
      let store = try await shell.switching(to: .onStore)
      for (shell, name) in [(shell, "b"), (store, "c")] {
        #expect(try await shell.inContainer("roles grant Editor anna").status == 0)
        #expect(await save(name) == nil)
        #expect(try await shell.inContainer("roles revoke Editor anna").status == 0)
        #expect(await save(name + "2") == .permissionFailure)
      }
    }
  }

  @Test(
    "a schema is tried and imported, and its mistakes are shown where they stand",
    arguments: Way.allCases)
  func schemas(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let file = URL(fileURLWithPath: shell.cloud.directory + "/app.ckdb")
      try Data(Self.schema.utf8).write(to: file)
      let read = try await shell.petrel("schema validate app.ckdb")
      #expect(
        read.output == "app.ckdb is valid. Record types: 1, fields: 1, roles: 1\n",
        "\(read.output)")
      let tried = try await shell.inContainer("schema validate app.ckdb --json")
      #expect(tried.status == 0, "\(tried.output)")
      #expect(tried.json.first?["file"] == "app.ckdb" && tried.json.first?["fields"] == 1)
      #expect(tried.json.first?["changes"]?.array?.contains("+ ROLE Editor") == true)
      let dry = try await shell.inContainer("schema import app.ckdb --dry-run --json")
      #expect(dry.json.first?.object?.keys.sorted() == ["changes", "refusals"], "\(dry.output)")
      let imported = try await shell.inContainer("schema import app.ckdb")
      #expect(imported.output.contains("+ Note.title STRING QUERYABLE"), "\(imported.output)")
      let same = try await shell.inContainer("schema import app.ckdb --json")
      #expect(same.json == [["changes": [], "refusals": []]], "\(same.output)")

      _ = try await shell.inContainer("records put a --type Note title=x")
      try Data("DEFINE SCHEMA\nRECORD TYPE Note (title INT64);".utf8).write(to: file)
      for command in ["schema import app.ckdb", "schema validate app.ckdb"] {
        let refused = try await shell.inContainer(command)
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("refused: records of type 'Note' in development have"))
      }
      try Data("DEFINE SCHEMA\nRECORD TYPE Note (title STRNG);".utf8).write(to: file)
      for command in ["schema import app.ckdb", "schema validate app.ckdb"] {
        let wrong = try await shell.inContainer(command)
        #expect(wrong.status == 1, "\(wrong.output)")
        #expect(wrong.output.contains("app.ckdb:2:25: expected the type of field 'title'"))
      }
      let missing = try await shell.inContainer("schema import none.ckdb")
      #expect(
        missing.status == Self.usage
          && missing.output.contains("cannot read none.ckdb: No such file"))
      let exported = try await shell.inContainer("schema export")
      #expect(exported.output.contains("title") && exported.output.contains("STRING QUERYABLE"))
    }
  }
}
