import CloudKit
import JSONCoding
import PostgreSQLTesting
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct PostgreSQLCommandTests {
  @Test("serve, users, config, doctor and backup know where the store is")
  func commands() async throws {
    let folder = NSTemporaryDirectory() + "petrel-postgresql-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let data = folder + "/data"
    func run(_ words: String...) async throws -> (status: Int32, output: String) {
      let program = try Program(
        "petrel", words + ["--data", data, "--store", schema.address], in: folder)
      return (try await program.end(), program.output)
    }

    #expect(try await run("users", "add", "anna").status == 0)
    let server = try Program(
      "petrel", ["serve", "--data", data, "--port", "0"],
      environment: ["PETREL_STORE": schema.address], in: folder)
    try await server.line(containing: "petrel listens on")
    try await server.line(containing: "its store is at postgres://")
    let second = try Program(
      "petrel", ["serve", "--data", data, "--port", "0", "--store", schema.address], in: folder)
    try await second.line(containing: "petrel listens on")
    second.signal(SIGTERM)
    #expect(try await second.end() == 0, "\(second.output)")
    let users = try await run("users", "list")
    #expect(users.status == 0 && users.output.contains("anna"), "\(users.output)")
    let zones = try await run(
      "zones", "save", "z", "--container", "iCloud.a", "--database", "private", "--user", "anna")
    #expect(zones.status == 0, "\(zones.output)")
    let doctor = try await run("doctor", "--offline", "--port", "0")
    #expect(doctor.output.contains("PostgreSQL 1"), "\(doctor.output)")
    #expect(doctor.output.contains("fsync is off"), "\(doctor.output)")
    #expect(doctor.output.contains("is the folder of the store's assets"), "\(doctor.output)")
    let identity = data + "/petrel-assets/store-identity"
    let line = try String(contentsOfFile: identity, encoding: .utf8)
    try "another\n".write(toFile: identity, atomically: true, encoding: .utf8)
    let stranger = try await run("doctor", "--offline", "--port", "0")
    #expect(stranger.output.contains("has the assets of another store"), "\(stranger.output)")
    try FileManager.default.removeItem(atPath: identity)
    let bare = try await run("doctor", "--offline", "--port", "0")
    #expect(bare.output.contains("has no store-identity"), "\(bare.output)")
    try line.write(toFile: identity, atomically: true, encoding: .utf8)
    let servers = try await run("servers", "list", "--json")
    let listed = try JSONValue(parsing: Data(servers.output.utf8))
    #expect(listed["isShared"] == true && listed["servers"]?.array?.count == 1, "\(listed)")
    let first = listed["servers"]?.array?.first
    #expect(first?["description"]?.string?.isEmpty == false, "\(listed)")
    let left = first?["secondsLeft"]?.double ?? 0
    #expect(left > 0 && left <= 5, "\(listed)")
    let table = try await run("servers", "list")
    #expect(table.output.contains("ALIVE FOR") && table.output.contains(" s  "), "\(table.output)")
    let config = try await run("config")
    #expect(config.output.contains("--store"), "\(config.output)")
    let backup = try await run("backup", folder + "/backup")
    #expect(backup.status == 1 && backup.output.contains("pg_dump"), "\(backup.output)")
    let restore = try await run("restore", folder + "/backup")
    #expect(restore.status == 1 && restore.output.contains("pg_restore"), "\(restore.output)")
    #expect(!FileManager.default.fileExists(atPath: data + "/petrel.sqlite"))

    // The server of the directory knows where its store is.
    let found = try Program("petrel", ["users", "list", "--data", data], in: folder)
    #expect(try await found.end() == 0, "\(found.output)")
    server.signal(SIGTERM)
    #expect(try await server.end() == 0, "\(server.output)")
    // Without it and its configuration a command would make another store.
    let lost = try Program("petrel", ["users", "add", "zoe", "--data", data], in: folder)
    #expect(try await lost.end() == 64)
    #expect(lost.output.contains("a store in PostgreSQL"), "\(lost.output)")
    #expect(try await run("servers", "list").output == "no server has the store open\n")
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("a store is made where it is asked for, and not distributed where there is no Citus")
  func storeInit() async throws {
    let folder = NSTemporaryDirectory()
    let schema = try await PostgreSQLServer.shared.makeSchema()
    func run(_ words: String...) async throws -> (status: Int32, output: String) {
      let program = try Program(
        "petrel", ["store", "init", "--store", schema.address] + words, in: folder)
      return (try await program.end(), program.output)
    }
    let refused = try await run("--citus")
    #expect(
      refused.status == 1 && refused.output.contains("the extension Citus"), "\(refused.output)")
    // Nothing was made: the table is not there yet.
    try await PostgreSQLServer.shared.execute("CREATE TABLE \(schema.name).schema_version ()")
    try await PostgreSQLServer.shared.execute("DROP TABLE \(schema.name).schema_version")
    let shards = try await run("--shards", "4")
    #expect(shards.status == 64 && shards.output.contains("--citus"), "\(shards.output)")
    let many = try await run("--citus", "--shards", "0")
    #expect(many.status == 64 && many.output.contains("--shards"), "\(many.output)")
    let file = try Program("petrel", ["store", "init", "--citus"], in: folder)
    #expect(try await file.end() == 64)
    #expect(file.output.contains("postgres://"), "\(file.output)")
    let made = try await run("--json")
    #expect(made.status == 0 && made.output.contains("\"shards\":null"), "\(made.output)")
    #expect(try await run().status == 0)
    try await PostgreSQLServer.shared.drop(schema)
  }
}
