import CloudKitModel
import Testing

@testable import Storage

struct SavepointPolicyTests {
  @Test("a commit that needed them is followed by some that have them")
  func caution() {
    var policy = SavepointPolicy()
    func next(_ count: Int) -> [Bool] { (0..<count).map { _ in policy.nextOmitsSavepoints() } }
    for _ in 0..<3 {
      #expect(next(2) == [true, true])
      policy.wereNeeded()
      #expect(!next(SavepointPolicy.caution).contains(true))
    }
    #expect(next(2) == [true, true])
  }

  @Test(
    "an atomic request that fails is undone, in a commit without savepoints and in those after it",
    arguments: StoreEngine.allCases)
  func undone(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let zone = try await test.makeZone("z")
      func create(_ names: String...) async throws -> [String] {
        let operations = names.map {
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: $0, zoneID: zone), recordType: "Note",
            fields: ["n": .int64(1)])
        }
        return try await test.modify(operations, in: test.privateID, atomic: true)
          .map(\.summary)
      }
      #expect(try await create("taken") == ["saved"])
      for round in 0..<3 {
        #expect(try await create("new", "taken") == ["atomic", "exists"])
        #expect(try await test.record("new", zone: zone, in: test.privateID) == nil)
        #expect(try await create("a\(round)", "b\(round)") == ["saved", "saved"])
      }
      let store = try #require(test.store as? SQLStore)
      let state = try await StoredState(of: store, databases: [test.privateID])
      #expect(state.records.count == 7)
      #expect(state.index == state.wantedIndex)
      #expect(state.faults.isEmpty)
    }
  }
}
