import CloudKitModel
import Foundation
import PropertyTesting
import Testing

struct SchemaUnderLoadTests {
  @Test(
    "whatever one server saves while another changes and builds indexes, they are exact",
    arguments: Seeds.some(1))
  func indexes(seed: Int) async throws {
    try await ServerGroup.with(servers: 3) { group in
      let isOver = Flag()
      _ = try await group.servers[0].store.schemas.importSchema(
        IndexWorkTests.schema([.queryable]), of: TestStore.container, isDryRun: false)
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for (number, server) in group.servers.enumerated().dropFirst() {
          for worker in 0..<3 {
            tasks.addTask {
              var generator = SeededGenerator(seed: seed * 100 + number * 10 + worker)
              while !isOver.isUp, !Task.isCancelled {
                try await Self.save(on: server, &generator)
              }
            }
          }
          tasks.addTask {
            while !isOver.isUp, !Task.isCancelled {
              _ = try await server.store.maintenance.continueIndexWork()
            }
          }
        }
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<12 {
          let indexes = FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &generator))
          let outcome = try await group.servers[0].store.schemas.importSchema(
            IndexWorkTests.schema(indexes), of: TestStore.container, isDryRun: false)
          #expect(outcome.refusals.isEmpty)
          for _ in 0..<Int.random(in: 0...3, using: &generator) {
            _ = try await group.servers[0].store.maintenance.continueIndexWork()
          }
        }
        isOver.raise()
        try await tasks.waitForAll()
      }
      let store = group.store(0)
      while try await store.maintenance.continueIndexWork() != nil {}
      let entries = try await IndexWorkTests.entries(of: store)
      #expect(entries.found == entries.wanted, "seed \(seed)")
      #expect(!entries.found.isEmpty)
    }
  }

  private static func save(
    on server: TestStore, _ generator: inout SeededGenerator
  ) async throws {
    let database = generator.pick([server.publicID, server.privateID])
    let names = Set((0..<8).map { _ in "r\(Int.random(in: 0..<200, using: &generator))" })
    let operations = names.sorted().map { name in
      RecordOperation(
        kind: .forceUpdate, recordID: RecordID(recordName: name), recordType: "Note",
        fields: [
          "title": generator.chance(1, in: 5)
            ? nil : .string("word\(Int.random(in: 0..<9, using: &generator)) two"),
          "other": .int64(Int64.random(in: 0..<5, using: &generator)),
        ])
    }
    let outcomes = try await server.modify(operations, in: database)
    #expect(outcomes.allSatisfy { !$0.isFailure }, "\(outcomes)")
  }
}
