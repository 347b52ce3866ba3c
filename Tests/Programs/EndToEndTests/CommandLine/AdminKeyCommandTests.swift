import CloudKit
import JSONCoding
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct AdminKeyCommandTests {
  @Test("a key comes from a file or the environment, and its place is told when it is wrong")
  func keys() async throws {
    try await AdminShell.run(.overHTTP) { shell in
      let cloud = shell.cloud
      let server = await cloud.serverURL.absoluteString
      let good = cloud.directory + "/admin.key"
      let text = try String(contentsOfFile: good, encoding: .utf8)
      func list(
        _ words: [String], _ environment: [String: String] = [:]
      ) async throws -> AdminShell.Outcome {
        try await AdminShell.run(["users", "list"] + words, environment: environment, in: cloud)
      }
      for environment in [
        ["PETREL_ADMIN_KEY": text, "PETREL_SERVER": server],
        ["PETREL_ADMIN_KEY_FILE": good, "PETREL_SERVER": server + "/"],
      ] {
        let outcome = try await list([], environment)
        #expect(outcome.status == 0 && outcome.output.contains("anna"), "\(outcome.output)")
      }
      // Apps use the variable too: without a key it means nothing, and a directory comes first.
      let elsewhere = cloud.directory + "/elsewhere"
      for environment in [
        ["PETREL_SERVER": server, "PETREL_DATA": elsewhere],
        ["PETREL_SERVER": server, "PETREL_ADMIN_KEY": text],
        ["PETREL_SERVER": server, "PETREL_ADMIN_KEY_FILE": "none.key"],
      ] {
        let words = environment["PETREL_DATA"] == nil ? ["--data", elsewhere] : []
        let outcome = try await list(words, environment)
        #expect(
          outcome.status == 64 && outcome.output.contains("there is no store in '\(elsewhere)'"))
      }
      let none = try await list(["--server", server])
      #expect(none.status == 64 && none.output.contains("--key-file"), "\(none.output)")
      let missing = try await list(["--server", server, "--key-file", "none.key"])
      #expect(missing.status == 64 && missing.output.contains("cannot read none.key: No such file"))
      let both = try await list(["--server", server, "--data", "x", "--key-file", good])
      #expect(both.status == 64 && both.output.contains("not both"), "\(both.output)")
      let alone = try await list(["--key-file", good])
      #expect(alone.status == 64 && alone.output.contains("needs --server"))

      let wrong = cloud.directory + "/wrong.key"
      try AdminShell.write(String(repeating: "0", count: 64), toKeyFile: wrong, mode: 0o644)
      let refused = try await list(["--server", server, "--key-file", wrong])
      #expect(refused.status == 1, "\(refused.output)")
      #expect(refused.output.contains("(AUTHENTICATION_FAILED); the key came from \(wrong)"))
      #expect(refused.output.contains("every user of this machine can read"), "\(refused.output)")
      try AdminShell.write("two words", toKeyFile: wrong)
      let noKey = try await list(["--server", server, "--key-file", wrong])
      #expect(noKey.status == 64 && noKey.output.contains("does not contain an admin key"))

      await cloud.stopServer()
      let gone = try await list(["--server", server, "--key-file", good])
      #expect(
        gone.status == 1 && gone.output.contains("no answer from \(server)")
          && gone.output.contains("; is a server running there?"), "\(gone.output)")
      let bare = try await list(["--server", "127.0.0.1:18080", "--key-file", good])
      #expect(
        bare.status == 64
          && bare.output.contains(
            "--server '127.0.0.1:18080' is not an absolute URL, such as http://127.0.0.1:8080"),
        "\(bare.output)")
    }
  }

  @Test("commands that only a store can answer know no server")
  func storeOnly() async throws {
    try await AdminShell.run(.overHTTP) { shell in
      for command in ["backup copy", "doctor", "config"] {
        let outcome = try await shell.petrel(command)
        #expect(outcome.status == 64, "\(outcome.output)")
        #expect(outcome.output.contains("unknown option --server"), "\(outcome.output)")
      }
    }
  }

  @Test(
    "everything that prints takes --json",
    arguments: [
      ("users add zoe", "token"), ("users add-token anna", "token"), ("version", "version"),
      ("roles list --container iCloud.a", "roles"), ("keys list", "keys"),
      ("schema validate schema.ckdb", "fields"), ("schema status", "indexWork"),
      ("schema import schema.ckdb --container iCloud.a", "changes"), ("users list", "users"),
      ("backup copy", "backup"), ("devices list", "devices"),
    ])
  func json(_ words: String, _ member: String) async throws {
    try await AdminShell.run(.onStore) { shell in
      try Data("DEFINE SCHEMA\nRECORD TYPE Note (title STRING);\n".utf8).write(
        to: URL(fileURLWithPath: shell.cloud.directory + "/schema.ckdb"))
      let place = words == "version" ? [] : ["--data", shell.cloud.directory]
      let outcome = try await AdminShell.run(
        words.split(separator: " ").map(String.init) + ["--json"] + place, in: shell.cloud)
      #expect(outcome.status == 0, "\(outcome.output)")
      let json = try JSONValue(parsing: outcome.output)
      #expect(json.object?.keys.contains(member) == true, "\(outcome.output)")
    }
  }
}
