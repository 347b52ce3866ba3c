import CloudKit
import ProxySimulation
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("OperationProbe"), "the program OperationProbe is not built"))
struct LongLivedOperationTests {
  /// A cloud, a proxy before it, and programs of one user and device that go through it.
  private struct World {
    var cloud: Cloud
    var proxy: HoldingProxy
    var environment: [String: String]
    var database: CKDatabase

    func program(_ arguments: String...) throws -> Program {
      try Program(
        "OperationProbe", arguments, environment: environment, in: cloud.directory)
    }

    /// Runs a program to its end and returns its output.
    func output(_ arguments: String...) async throws -> [String] {
      let program = try Program(
        "OperationProbe", arguments, environment: environment, in: cloud.directory)
      _ = try await program.end()
      return program.output.split(separator: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  private func run(_ body: (World) async throws -> Void) async throws {
    try await Cloud.run { cloud in
      let proxy = try HoldingProxy(to: await cloud.serverPort)
      defer { proxy.close() }
      try await body(
        World(
          cloud: cloud, proxy: proxy,
          environment: [
            "PETREL_SERVER": "http://127.0.0.1:\(proxy.port)",
            "PETREL_CONTAINER": Cloud.container,
            "PETREL_TOKEN": try await cloud.token(of: "anna"), "PETREL_DEVICE": "anna-phone",
            "PETREL_STATE": cloud.directory + "/state",
          ],
          database: try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase))
    }
  }

  /// The ID that a program printed for its operation.
  private func operationID(_ program: Program) async throws -> String {
    try await eventually("the operation is persisted") { program.output.contains("persisted ") }
    return String(
      try #require(program.output.split(whereSeparator: \.isWhitespace).dropFirst().first))
  }

  @Test("Killed while its request is on the way, it goes on, and both requests save once")
  func duringRequest() async throws {
    try await run { world in
      world.proxy.hold(.requests)
      let program = try world.program("save", "A", "B")
      let operationID = try await operationID(program)
      try await eventually("the request is on its way") { world.proxy.isHolding }
      try await program.kill()
      #expect(try await world.output("list") == ["kept \(operationID)"])
      world.proxy.release()
      let output = try await world.output("resume", operationID)
      #expect(output.count == 3 && output.last == "result ok", "\(output)")
      #expect(output.prefix(2).allSatisfy { $0.hasPrefix("saved ") })
      let record = try await world.database.record(for: CKRecord.ID(recordName: "B"))
      #expect(record["name"] as? String == "B")
      #expect(try await world.output("list") == ["kept"])
      #expect(try await world.output("resume", operationID) == ["nothing"])
    }
  }

  @Test("Killed after the server saved, it finds its own records, and no conflict")
  func answerLost() async throws {
    try await run { world in
      world.proxy.hold(.answers)
      let program = try world.program("save", "A", "B")
      let operationID = try await operationID(program)
      try await eventually("the answer is on its way") { world.proxy.isHolding }
      let saved = try await world.database.record(for: CKRecord.ID(recordName: "A"))
      try await program.kill()
      world.proxy.release()
      let output = try await world.output("resume", operationID)
      #expect(output.first == "saved A \(saved.recordChangeTag ?? "")", "\(output)")
      #expect(output.last == "result ok")
    }
  }

  @Test("Killed in its blocks, it calls them again although the server is gone")
  func inBlocks() async throws {
    try await run { world in
      let program = try world.program("hang", "A")
      let operationID = try await operationID(program)
      try await eventually("the block is called") { program.output.contains("saved A") }
      // It still runs: another process must keep away from it.
      #expect(try await world.output("resume", operationID) == ["result serviceUnavailable"])
      try await program.kill()
      await world.cloud.stopServer()
      let output = try await world.output("resume", operationID)
      #expect(output.count == 2 && output.last == "result ok", "\(output)")
      #expect(program.output.contains(output[0]))
      try await world.cloud.startServer()
    }
  }
}
