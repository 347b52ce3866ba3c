import CloudKit
import JSONCoding
import PostgreSQLTesting
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct RestoredStoreTests {
  @Test("is served once it was said what became of what was saved after the copy")
  func refused() async throws {
    let folder = NSTemporaryDirectory() + "petrel-restored-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let place = ["--data", folder + "/data", "--store", schema.address]
    func run(_ words: String...) async throws -> (status: Int32, output: String) {
      let program = try Program("petrel", words + place, in: folder)
      return (try await program.end(), program.output)
    }
    func serve() async throws {
      let server = try Program("petrel", ["serve", "--port", "0"] + place, in: folder)
      try await server.line(containing: "petrel listens on")
      server.signal(SIGTERM)
      #expect(try await server.end() == 0, "\(server.output)")
    }
    try await serve()
    try await serve()
    for isComplete in [false, true] {
      // What a dump brings with it.
      try await PostgreSQLServer.shared.execute(
        """
        COMMENT ON TABLE \(schema.name).schema_version IS
          'Petrel serves the store from here: cluster 1, database 2, table 3'
        """)
      for words in [["serve", "--port", "0"], ["users", "add", "anna"]] {
        let refused = try Program("petrel", words + place, in: folder)
        #expect(try await refused.end() == 1)
        #expect(refused.output.contains("cluster 1, database 2, table 3"), "\(refused.output)")
        #expect(refused.output.contains("petrel store restored"), "\(refused.output)")
      }
      let doctor = try await run("doctor", "--offline", "--port", "0")
      #expect(doctor.output.contains("the store is a copy"), "\(doctor.output)")
      let words = isComplete ? ["store", "restored", "--nothing-lost"] : ["store", "restored"]
      let said = try Program("petrel", words + ["--json"] + place, in: folder)
      #expect(try await said.end() == 0)
      let answer = try JSONValue(parsing: Data(said.output.utf8))
      #expect(answer["nothingLost"]?.bool == isComplete, "\(said.output)")
      #expect(try await run("users", "add", "user\(isComplete)").status == 0)
      try await serve()
    }
    try await PostgreSQLServer.shared.drop(schema)
  }
}
