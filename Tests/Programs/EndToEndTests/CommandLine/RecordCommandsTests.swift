import CloudKit
import JSONCoding
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct RecordCommandsTests {
  @Test("records are saved, found, shown and deleted", arguments: Way.allCases)
  func records(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let record = """
        {"recordName": "milk", "recordType": "Note", "fields":
         {"title": {"value": "Milk"}, "rank": {"value": 3}, "due": {"value": 0, "type": "TIMESTAMP"}}}
        """
      let put = try await shell.inContainer("records put", input: record)
      #expect(put.status == 0 && put.output == "saved milk\n", "\(put.output)")
      let words = try await shell.inContainer(
        "records put bread --type Note rank=5 due=1970-01-02T00:00:00Z", ["title=Black bread"])
      #expect(words.status == 0, "\(words.output)")

      let found = try await shell.inContainer(
        "records query --type Note --sort -rank --json", ["--predicate", "rank > 2"])
      #expect(found.status == 0)
      let records = try #require(found.json.first?["records"]?.array)
      #expect(records.map { $0["recordName"]?.string } == ["bread", "milk"])
      #expect(records[0]["fields"]?["due"]?["value"]?.int == 86_400_000)
      let table = try await shell.inContainer("records query --type Note --limit 1 --sort rank")
      #expect(table.output.contains("title='Milk'"), "\(table.output)")
      #expect(table.output.contains("there are more records; show them with --limit all"))

      let shown = try await shell.inContainer("records get bread")
      #expect(shown.status == 0 && shown.output.contains("'Black bread'"), "\(shown.output)")
      let missing = try await shell.inContainer("records get cake milk --json")
      #expect(missing.status == 1 && missing.output.contains("NOT_FOUND"))
      #expect(missing.json.map { $0["recordName"]?.string } == ["milk"])

      let deleted = try await shell.inContainer("records delete milk cake")
      #expect(deleted.status == 1, "\(deleted.output)")
      #expect(deleted.output.contains("deleted milk\n"))
      #expect(deleted.output.contains("record 'cake'"))
      let left = try await shell.inContainer("records query --type Note --json --limit all")
      #expect(left.json.map { $0["recordName"]?.string } == ["bread"])
    }
  }

  @Test(
    "a record that was read is saved again unless it has changed since", arguments: Way.allCases)
  func guarded(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      _ = try await shell.inContainer("records put a --type Note n:INT64=1")
      let read = try await shell.inContainer("records get a --json")
      let text = read.output.replacing("\"value\":1", with: "\"value\":2")
      #expect(try await shell.inContainer("records put", input: text).status == 0)
      let stale = try await shell.inContainer("records put", input: text)
      #expect(stale.status == 1 && stale.output.contains("(CONFLICT)"), "\(stale.output)")
      #expect(try await shell.inContainer("records put --force", input: text).status == 0)
    }
  }

  @Test(
    "what is wrong is told with its name",
    arguments: [
      ("records query", [], 64, "needs --type"),
      ("records query --type Note", ["--predicate", "a >"], 1, "predicate"),
      ("records query --type Note --limit none", [], 64, "--limit must be"),
      ("records query --type Note --database all", [], 64, "public, private or shared"),
      ("records query --type Note --database private", [], 64, "needs --user"),
      (
        "records query --type Note --database private --user nobody", [], 1,
        ": --user is not the name of an account: 'nobody'"
      ),
      ("records put x --type Note a=1", [], 64, "no field 'a' yet"),
      ("records put x --type Note a:INT64=one", [], 64, "'one' is not a value of type INT64"),
      ("records put x --type Note a:ASSET=one", [], 64, "as JSON with --file"),
      ("records put --file none.json", [], 64, "cannot read none.json: No such file"),
      ("records import none.jsonl", [], 64, "cannot read none.jsonl: No such file"),
      ("records import .", [], 64, "cannot read .: Is a directory"),
      ("records import - --existing keep", [], 64, "fail, skip or replace"),
      ("zones save Work", [], 1, "private or shared database only"),
    ] as [(String, [String], Int32, String)])
  func mistakes(_ words: String, _ more: [String], _ status: Int32, _ text: String) async throws {
    try await AdminShell.run(.overHTTP) { shell in
      for shell in [shell, try await shell.switching(to: .onStore)] {
        if shell.way == .onStore { try await shell.cloud.makeRoomForProgram() }
        let outcome = try await shell.inContainer(words, more)
        #expect(outcome.status == status && outcome.output.contains(text), "\(outcome.output)")
      }
    }
  }

  @Test("the error of a misspelt type or field has the nearest name", arguments: Way.allCases)
  func misspelt(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let nothing = try await shell.inContainer("records query --type Nte")
      #expect(nothing.status == 1, "\(nothing.output)")
      #expect(nothing.output.contains(": Did not find record type: Nte. "), "\(nothing.output)")
      let record: JSONValue = [
        "recordName": "a", "recordType": "Note", "fields": ["title": ["value": "x"]],
      ]
      #expect(try await shell.inContainer("records put", input: record.text).status == 0)
      for (words, more, text) in [
        (
          "records query --type Nte", [],
          ": --type is no record type of \(Cloud.container), development: 'Nte'; did you mean 'Note'?"
        ),
        ("records query --type Zebra", [], ": 'Zebra'; known are Note (BAD_REQUEST)"),
        ("records export --type Nte", [], ": 'Nte'; did you mean 'Note'?"),
        (
          "records query --type Note", ["--predicate", "tilte == 'x'"],
          ": --predicate names a field that 'Note' does not have: 'tilte'; did you mean 'title'?"
        ),
        (
          "records query --type Note --sort -titel", [],
          ": --sort names a field that 'Note' does not have: 'titel'; did you mean 'title'?"
        ),
      ] as [(String, [String], String)] {
        let outcome = try await shell.inContainer(words, more)
        #expect(outcome.status == 1 && outcome.output.contains(text), "\(outcome.output)")
      }
      let sorted = try await shell.inContainer(
        "records query --type Note --sort -modificationDate --json")
      #expect(sorted.json.first?["records"]?.array?.count == 1, "\(sorted.output)")
    }
  }

  @Test("what other people's records hold does not move the cursor")
  func controlCharacters() async throws {
    try await AdminShell.run(.onStore) { shell in
      let record: JSONValue = [
        "recordName": "a", "recordType": "Note",
        "fields": ["title": ["value": "\u{1B}[2J\u{202E}evil\nline"]],
      ]
      #expect(try await shell.inContainer("records put", input: record.text).status == 0)
      for command in ["records get a", "records query --type Note"] {
        let output = try await shell.inContainer(command).output
        #expect(output.contains(#"\u{1b}[2J\u{202e}evil\nline"#), "\(output)")
        #expect(!output.unicodeScalars.contains("\u{1B}"))
      }
    }
  }
}
