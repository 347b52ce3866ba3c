import CloudKit
import Cryptography
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct KeysCommandTests {
  /// Runs the program in a folder of its own, and answers its exit status and output.
  private func run(_ words: String..., in folder: String) async throws -> (Int32, String) {
    // The word of the group alone is no command.
    let place = words.count == 1 || words.last == "--help" ? [] : ["--data", ".petrel"]
    let program = try Program("petrel", words + place, in: folder)
    let status = try await program.end()
    return (status, program.output)
  }

  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-keys-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try Program("petrel", ["store", "init", "--data", ".petrel"], in: folder)
    #expect(try await store.end() == 0, "\(store.output)")
    try await body(folder)
  }

  @Test("API tokens are made, listed and revoked")
  func apiTokens() async throws {
    try await withFolder { folder in
      let made = try await run(
        "keys", "add-api-token", "my app", "--container", "iCloud.a", "--environment",
        "production", "--origins", "https://A.example, http://localhost:3000", "--redirect",
        "https://a.example/back", in: folder)
      #expect(made.0 == 0, "\(made.1)")
      let token = made.1.trimmingCharacters(in: .newlines)
      #expect(token.wholeMatch(of: /[0-9a-f]{64}/) != nil, "\(token)")
      let list = try await run("keys", "list", in: folder).1
      for part in [
        "my app", "iCloud.a (production)", "http://localhost:3000, https://a.example",
        "https://a.example/back",
      ] {
        #expect(list.contains(part), "\(list)")
      }
      #expect(!list.contains(token) && !list.contains("REVOKED"))
      let identifier = try #require(list.firstMatch(of: /API token ([0-9a-f]{16})/)?.1)
      let revoked = try await run("keys", "revoke", String(identifier), in: folder)
      #expect(revoked.0 == 0 && revoked.1.contains("my app"), "\(revoked.1)")
      #expect(try await run("keys", "list", in: folder).1.contains("REVOKED"))
      let again = try await run("keys", "revoke", token, in: folder)
      #expect(again.0 == 1 && again.1.contains("revoked already"), "\(again.1)")
      #expect(try await run("keys", "list", "--container", "iCloud.b", in: folder).1 == "")
    }
  }

  @Test("A pair of server keys is made, the private half readable for its owner alone")
  func serverKeys() async throws {
    try await withFolder { folder in
      let made = try await run(
        "keys", "add-server-key", "feed", "--container", "iCloud.a", "--new-private-key",
        "feed.pem", in: folder)
      #expect(made.0 == 0, "\(made.1)")
      let keyID = made.1.trimmingCharacters(in: .newlines)
      #expect(keyID.wholeMatch(of: /[0-9a-f]{64}/) != nil)
      let file = folder + "/feed.pem"
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      let key = try ES256PrivateKey(pem: String(contentsOfFile: file, encoding: .utf8))
      let list = try await run("keys", "list", in: folder).1
      #expect(list.contains(keyID) && list.contains("user record _"))

      // The file is not written over, and the public half is not registered twice.
      let taken = try await run(
        "keys", "add-server-key", "x", "--container", "iCloud.a", "--new-private-key", "feed.pem",
        in: folder)
      #expect(taken.0 == 64 && taken.1.contains("File exists"), "\(taken.1)")
      #expect(
        try ES256PrivateKey(pem: String(contentsOfFile: file, encoding: .utf8)).pem == key.pem)
      try key.publicKey.pem.write(
        toFile: folder + "/pub.pem", atomically: true, encoding: .utf8)
      let twice = try await run(
        "keys", "add-server-key", "x", "--container", "iCloud.a", "--public-key", "pub.pem",
        in: folder)
      #expect(twice.0 == 1 && twice.1.contains("already"), "\(twice.1)")
      let elsewhere = try await run(
        "keys", "add-server-key", "x", "--container", "iCloud.b", "--public-key", "pub.pem",
        in: folder)
      #expect(elsewhere.0 == 0, "\(elsewhere.1)")
      let revoked = try await run("keys", "revoke", String(keyID.prefix(8)), in: folder)
      #expect(revoked.0 == 0, "\(revoked.1)")
    }
  }

  @Test("The commands of a group are listed by its word alone")
  func group() async throws {
    try await withFolder { folder in
      let help = try await run("keys", "--help", in: folder)
      #expect(help.0 == 0)
      for name in ["add-api-token", "add-server-key", "list", "revoke"] {
        #expect(help.1.contains("keys \(name)"), "\(help.1)")
      }
      #expect(!help.1.contains("users"))
      let alone = try await run("keys", in: folder)
      #expect(alone == (64, "petrel: 'keys' needs a second word:\n" + help.1))
      let unknown = try await run("keys", "make", in: folder)
      #expect(unknown.0 == 64 && unknown.1.contains("unknown command 'keys make'"))
    }
  }

  @Test(
    "What is wrong with the words is told, and how it would be right",
    arguments: [
      ("add-api-token --container iCloud.a", "needs one NAME"),
      ("add-api-token web", "needs --container"),
      ("add-api-token web --container a.b", "must begin with 'iCloud.'"),
      ("add-api-token web --container iCloud.a --environment test", "development or production"),
      ("add-api-token web --container iCloud.a --origins https://a/b", "origin of a web page"),
      ("add-api-token web --container iCloud.a --redirect nowhere", "must be a URL"),
      ("add-server-key feed --container iCloud.a", "needs either --public-key"),
      (
        "add-server-key feed --container iCloud.a --public-key none.pem",
        "cannot read none.pem: No such"
      ),
      ("add-server-key feed --container iCloud.a --public-key key.pem", "contains a private key"),
      ("add-server-key feed --container iCloud.a --public-key p384.pem", "P-256"),
      ("revoke", "needs one IDENTIFIER"), ("revoke 0123456789", "there is no API token"),
    ])
  func mistakes(_ words: String, _ expected: String) async throws {
    try await withFolder { folder in
      try ES256PrivateKey().pem.write(
        toFile: folder + "/key.pem", atomically: true, encoding: .utf8)
      // A public key on P-384.
      try """
      -----BEGIN PUBLIC KEY-----
      \(Self.p384)
      -----END PUBLIC KEY-----

      """.write(
        toFile: folder + "/p384.pem", atomically: true, encoding: .utf8)
      let program = try Program(
        "petrel", ["keys"] + words.split(separator: " ").map(String.init) + ["--data", ".petrel"],
        in: folder)
      #expect(try await program.end() != 0)
      #expect(program.output.contains(expected), "\(program.output)")
    }
  }

  private static let p384 = """
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEGPan3j6bT0JTWl7LNxrNu2xBJDCokGBg
    jSdS2INEO7SEzntrD2ZUiBO3qwcvcPOelvNrZ1F9K9RLli+xgKmVIXyI9m68u7wj
    UtYoptJBpof/mSFUN6AeUEqVOaBWZGZd
    """
}
