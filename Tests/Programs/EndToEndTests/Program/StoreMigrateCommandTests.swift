import CloudKit
import JSONCoding
import PostgreSQLTesting
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct StoreMigrateCommandTests {
  private struct Outcome {
    var status: Int32
    var output: String

    var json: JSONValue? { try? JSONValue(parsing: output) }
  }

  /// A folder with a store of a few hundred users in `d`, and an address of an empty PostgreSQL.
  private struct Place {
    let folder: String
    let address: String

    func petrel(_ words: String...) async throws -> Outcome {
      let program = try Program("petrel", words, in: folder)
      return Outcome(status: try await program.end(), output: program.output)
    }

    func migrate(_ words: [String]) async throws -> Outcome {
      let program = try Program("petrel", ["store", "migrate"] + words, in: folder)
      return Outcome(status: try await program.end(), output: program.output)
    }
  }

  private func withPlace(_ body: (Place) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let folder = NSTemporaryDirectory() + "petrel-migrate-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(Place(folder: folder, address: schema.address))
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("a store goes to PostgreSQL and back, and who had an account has it there")
  func thereAndBack() async throws {
    try await withPlace { place in
      #expect(try await place.petrel("users", "add", "anna", "--data", "d").status == 0)
      let there = try await place.petrel("store", "migrate", "--from", "d", "--to", place.address)
      #expect(there.status == 0, "\(there.output)")
      #expect(there.output.contains("are in postgres://"), "\(there.output)")
      #expect(
        there.output.contains("do not start a server on \(place.folder)/d"), "\(there.output)")
      let back = try await place.petrel(
        "store", "migrate", "--from", place.address, "--to", "e/copy.sqlite", "--json")
      #expect(back.status == 0, "\(back.output)")
      #expect(back.json?["continued"] == false && back.json?["assets"] == 0)
      let users = back.json?["tables"]?.array?.first { $0["table"] == "users" }
      #expect(users?["rows"] == 1, "\(back.output)")
      #expect(users?["digest"]?.string?.count == 64)
      let again = try await place.petrel(
        "store", "migrate", "--from", "e/copy.sqlite", "--to", "f", "--json")
      #expect(again.json?["tables"] == back.json?["tables"])
      #expect(try await place.petrel("users", "list", "--data", "f").output.contains("anna"))
    }
  }

  @Test("one that is run again when all is there says so, until somebody has used the store")
  func again() async throws {
    try await withPlace { place in
      #expect(try await place.petrel("users", "add", "anna", "--data", "d").status == 0)
      let words = ["--from", "d", "--to", place.address, "--json"]
      let first = try await place.migrate(words)
      #expect(first.json?["continued"] == false, "\(first.output)")
      let second = try await place.migrate(words)
      #expect(second.status == 0 && second.json?["continued"] == true, "\(second.output)")
      #expect(second.json?["tables"] == first.json?["tables"])
      let added = try await place.petrel(
        "users", "add", "ben", "--data", "x", "--store", place.address)
      #expect(added.status == 0, "\(added.output)")
      let third = try await place.migrate(words)
      #expect(third.status == 1, "\(third.output)")
    }
  }

  @Test("killed again and again it goes on, and all is there in the end")
  func kills() async throws {
    try await withPlace { place in
      try await fill(place.folder + "/d")
      for (source, target) in [("d", place.address), (place.address, "e")] {
        let words = ["store", "migrate", "--from", source, "--to", target, "--json"]
        var kills = 0
        while true {
          let program = try Program("petrel", words, in: place.folder)
          // Each time when it has done twice as much, wherever that may be.
          try await eventually("the program has done so much, or all") {
            program.bytesOfFiles > 20_000 << kills || !program.isRunning
          }
          if program.isRunning {
            try await program.kill()
            kills += 1
            continue
          }
          #expect(try await program.end() == 0, "\(program.output)")
          let json = try #require(try? JSONValue(parsing: program.output), "\(program.output)")
          let records = json["tables"]?.array?.first { $0["table"] == "records" }
          #expect(records?["rows"] == .int(Int64(Self.records)), "\(program.output)")
          break
        }
        #expect(kills > 0)
      }
    }
  }

  private static let records = 20_000

  private func fill(_ directory: String) async throws {
    let lines = (0..<Self.records).map {
      #"{"recordName":"r\#($0)","recordType":"Note","fields":{"n":{"value":\#($0),"type":"INT64"}}}"#
    }
    let folder = (directory as NSString).deletingLastPathComponent
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(
      to: URL(fileURLWithPath: folder + "/records.jsonl"))
    let program = try Program(
      "petrel",
      [
        "records", "import", "records.jsonl", "--container", "iCloud.com.example.app", "--data",
        directory,
      ], in: folder)
    try #require(try await program.end() == 0, "\(program.output)")
  }

  @Test("mistakes are told, and nothing is done")
  func mistakes() async throws {
    try await withPlace { place in
      #expect(try await place.petrel("users", "add", "anna", "--data", "d").status == 0)
      #expect(try await place.petrel("users", "add", "ben", "--data", "e").status == 0)
      let usage: Int32 = 64
      let cases: [(words: [String], status: Int32, text: String)] = [
        ([], usage, "needs --from LOCATION"),
        (["--from", "d"], usage, "needs --to LOCATION"),
        (["--from", "d", "--to", ""], usage, "needs --to LOCATION"),
        (["d", "e"], usage, "takes only options"),
        (["--form", "d", "--to", "f"], usage, "did you mean --from?"),
        (
          ["--from", "d", "--to", "postgres://h/x?no=1"], usage,
          "--to: the address of the PostgreSQL"
        ),
        (
          ["--from", "x", "--to", "f"], 1, "there is no store at '\(place.folder)/x/petrel.sqlite'"
        ),
        (["--from", "d", "--to", "d"], 1, "source and target are the same place"),
        (["--from", "d", "--to", "e"], 1, "nothing is overwritten"),
        (["--from", place.address, "--to", "f"], 1, "is not a Petrel store"),
        (["--from", "d", "--to", "postgres://x@/y?host=/nowhere"], 1, "cannot be reached"),
      ]
      for (words, status, text) in cases {
        let outcome = try await place.migrate(words)
        #expect(outcome.status == status, "\(words): \(outcome.output)")
        #expect(outcome.output.contains(text), "\(words): \(outcome.output)")
      }
      #expect(try await place.petrel("users", "list", "--data", "e").output.contains("ben"))
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/f/petrel.sqlite"))
    }
  }

  @Test("a store that a server has open is refused")
  func served() async throws {
    try await Cloud.run { cloud in
      let program = try Program(
        "petrel", ["store", "migrate", "--from", cloud.directory, "--to", "elsewhere"],
        in: cloud.directory)
      #expect(try await program.end() == 1)
      #expect(program.output.contains("open; stop it first"), "\(program.output)")
    }
  }
}
