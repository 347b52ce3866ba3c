import CloudKit
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct UsersCommandTests {
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-users-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  /// Runs the program in a folder of its own, and answers its exit status and output.
  private func run(
    _ words: String..., input: String? = nil, in folder: String
  ) async throws -> (Int32, String) {
    let program = try Program(
      "petrel", ["users"] + words + ["--data", ".petrel"], input: input, in: folder)
    return (try await program.end(), program.output)
  }

  @Test("Users are added, listed, given passwords and further tokens, and signed out")
  func users() async throws {
    try await withFolder { folder in
      // The first user's store is made, and the program says where.
      let first = try await run("add", "ben", in: folder)
      #expect(first.0 == 0 && first.1.contains("a new one was created in '\(folder)/.petrel'"))
      let added = try await run("add", "anna", in: folder)
      #expect(added.0 == 0, "\(added.1)")
      let more = try await run("add-token", "anna", "--expires-in", "12h", in: folder)
      #expect(more.0 == 0 && more.1.count == added.1.count && more.1 != added.1, "\(more.1)")
      #expect(try await run("list", in: folder).1.contains("\nanna  _"))
      let password = try await run("password", "anna", input: "correct horse\n", in: folder)
      #expect(password == (0, ""))
      // A new password leaves the tokens of native clients alone.
      #expect(try await run("sign-out", "anna", in: folder) == (0, "0 sessions ended\n"))
      let everywhere = try await run("sign-out", "anna", "--everywhere", in: folder)
      #expect(everywhere == (0, "2 sessions ended\n"))
    }
  }

  @Test("A name that is missing or unknown is told, and so is a store that is missing")
  func mistakes() async throws {
    try await withFolder { folder in
      for words in [["list"], ["add-token", "anna"], ["sign-out", "anna"]] {
        let program = try Program("petrel", ["users"] + words, in: folder)
        #expect(try await program.end() == 64)
        #expect(program.output.contains("there is no store in '.petrel'"), "\(program.output)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/.petrel"))
      }
      _ = try await run("add", "anna", in: folder)
      for command in ["add", "add-token", "sign-out"] {
        let none = try await run(command, in: folder)
        #expect(none.0 == 64 && none.1.contains("needs one NAME"), "\(none.1)")
      }
      for command in ["add-token", "sign-out"] {
        let unknown = try await run(command, "zoe", in: folder)
        #expect(unknown.0 == 1 && unknown.1.contains("no user named 'zoe'"), "\(unknown.1)")
      }
    }
  }
}
