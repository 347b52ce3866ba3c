import CloudKit
import CloudKitModel
import Testing
import Waiting

struct SchemaCommandTests {
  /// Runs `petrel` to its end and answers the status and what it printed.
  private func petrel(_ words: String..., in cloud: Cloud) async throws -> (Int32, String) {
    let program = try Program(
      "petrel", words + ["--data", cloud.directory], in: cloud.directory)
    return (try await program.end(), program.output)
  }

  @Test(
    "beside a running server a schema is exported, changed, imported and deployed",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func besideServer() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "laptop").publicCloudDatabase
      try await database.modifyRecords(
        saving: (0..<20).map { CKRecord("Note", "n\($0)", ["title": "t\($0)"]) }, deleting: [])
      let container = Cloud.container
      let file = cloud.directory + "/schema.ckdb"
      let (exported, text) = try await petrel(
        "schema", "export", "--container", container, in: cloud)
      #expect(exported == 0)
      // Without the option's name, as it once was.
      #expect(try await petrel("schema", "export", container, in: cloud) == (0, text))
      #expect(text.contains("title           STRING QUERYABLE SEARCHABLE SORTABLE,"), "\(text)")

      // Without the option, the running server refuses the query.
      func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      }
      try write(text.replacing("STRING QUERYABLE SEARCHABLE SORTABLE", with: "STRING"))
      let (tried, changes) = try await petrel(
        "schema", "import", file, "--container", container, "--dry-run", in: cloud)
      #expect(tried == 0)
      #expect(
        changes == "~ Note.title QUERYABLE SEARCHABLE SORTABLE -> no index\n", "\(changes)")
      let (imported, _) = try await petrel(
        "schema", "import", file, "--container", container, in: cloud)
      #expect(imported == 0)
      let query = CKQuery(
        recordType: "Note", predicate: NSPredicate(format: "title = %@", "t7"))
      let error = await #expect(throws: CKError.self) {
        _ = try await database.records(matching: query)
      }
      #expect(error?.code == .invalidArguments)
      #expect(error?.localizedDescription.contains("is not marked queryable") == true)

      // The server removes the old entries and builds the index again.
      try write(text)
      let (again, message) = try await petrel("schema", "import", container, file, in: cloud)
      #expect(again == 0)
      #expect(message.contains("petrel schema status"), "\(message)")
      let store = await cloud.store
      try await eventually("the server has built the index") {
        try await store.schemas.indexWork().isEmpty
      }
      let found = try await database.records(matching: query).matchResults
      #expect(found.map(\.0.recordName) == ["n7"])
      let (status, line) = try await petrel("schema", "status", in: cloud)
      #expect(status == 0)
      #expect(line == "all indexes are complete\n")

      // What would lose data is refused.
      try write("DEFINE SCHEMA\nRECORD TYPE Note (title INT64);")
      let (refused, reasons) = try await petrel("schema", "import", container, file, in: cloud)
      #expect(refused == 1)
      #expect(
        reasons.contains("records of type 'Note' in development have values in field 'title'"))
      try write("DEFINE SCHEMA\nRECORD TYPE Note (title STRNG);")
      let (invalid, mistake) = try await petrel("schema", "validate", file, in: cloud)
      #expect(invalid == 1)
      #expect(mistake.contains("schema.ckdb:2:25: expected the type of field 'title'"))

      let (deployed, added) = try await petrel(
        "schema", "deploy", "--container=\(container)", in: cloud)
      #expect(deployed == 0)
      #expect(added.contains("+ RECORD TYPE Note\n+ Note.title STRING QUERYABLE"), "\(added)")
      let (_, production) = try await petrel(
        "schema", "export", "--container", container, "--environment", "production", in: cloud)
      #expect(production == text)
    }
  }

  @Test(
    "without a server the command builds the indexes itself",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func withoutServer() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "laptop").publicCloudDatabase
      try await database.modifyRecords(
        saving: (0..<20).map { CKRecord("Note", "n\($0)", ["title": "t\($0)"]) }, deleting: [])
      let container = Cloud.container
      let file = cloud.directory + "/schema.ckdb"
      try await cloud.makeRoomForProgram()
      _ = try await petrel("schema", "export", container, "--output", file, in: cloud)
      let text = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
      try Data(text.replacing(" QUERYABLE SEARCHABLE SORTABLE", with: "").utf8)
        .write(to: URL(fileURLWithPath: file))
      _ = try await petrel("schema", "import", container, file, in: cloud)
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let (status, output) = try await petrel("schema", "import", container, file, in: cloud)
      #expect(status == 0)
      #expect(
        output.contains("index of values of Note.title in \(container) (development): done"),
        "\(output)")
      try await cloud.startServer()
      let query = CKQuery(
        recordType: "Note", predicate: NSPredicate(format: "title = %@", "t7"))
      let again = try await cloud.container(of: "anna", device: "laptop").publicCloudDatabase
      #expect(try await again.records(matching: query).matchResults.count == 1)
    }
  }
}
