import PropertyTesting
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Random requests of several owners and participants, against a plain model of who sees what and
  /// who learns of which change.
  struct SharedModel {
    static let engines = StoreEngine.allCases

    @Test(
      "random requests of owners and participants have the outcomes of a plain model",
      arguments: engines, Seeds.some(4))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        var history = try await SharedZoneHistory(servers: [test], seed: seed)
        for _ in 0..<200 { try await history.step() }
        try await history.checkAll()
      }
    }

    @Test("the same holds for two servers that share a store", arguments: Seeds.some(2))
    func servers(_ seed: Int) async throws {
      try await ServerGroup.with(servers: 2) { group in
        var history = try await SharedZoneHistory(servers: group.servers, seed: seed)
        for _ in 0..<200 { try await history.step() }
        try await history.checkAll()
      }
    }
  }
}
