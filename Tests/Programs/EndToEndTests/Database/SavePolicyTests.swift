import CloudKit
import Testing

struct SavePolicyTests {
  typealias Policy = CKModifyRecordsOperation.RecordSavePolicy

  /// The state of the client's record when it is saved.
  enum Origin: CaseIterable {
    /// Never fetched, and the server has none.
    case new
    /// Never fetched, but the server has one.
    case untagged
    /// Fetched, and the server's is the same.
    case current
    /// Fetched, and the server's was changed since.
    case stale
    /// Fetched, and the server's was deleted since.
    case deleted
  }

  private let recordID = CKRecord.ID(recordName: "A")

  /// Saves `{a: 1, b: 1}` on the server, changes `b` there to 2 for stale records, and saves
  /// `a = 3` (with all of its fields) under the policy.
  @available(*, deprecated)
  private func outcome(
    _ policy: Policy, _ origin: Origin, in cloud: Cloud
  ) async throws -> (error: CKError?, fields: [String: Int]?) {
    let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
    let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
    var record = CKRecord("Item", "A")
    if origin != .new {
      try await laptop.add("Item", "A", ["a": 1, "b": 1])
      if origin != .untagged { record = try await phone.record(for: recordID) }
    }
    if origin == .stale {
      let changed = try await laptop.record(for: recordID)
      changed["b"] = 2
      changed["c"] = 2
      try await laptop.save(changed)
    }
    if origin == .deleted { try await laptop.deleteRecord(withID: recordID) }
    record["a"] = 3
    let operation = CKModifyRecordsOperation(recordsToSave: [record])
    operation.savePolicy = policy
    let outcome = await phone.outcome(of: operation)
    #expect(outcome.resultError == nil)
    let stored = try? await laptop.record(for: recordID)
    return (
      outcome.errors["A"],
      stored.map { stored in
        Dictionary(uniqueKeysWithValues: stored.allKeys().map { ($0, stored[$0] as? Int ?? 0) })
      }
    )
  }

  @available(*, deprecated)
  @Test(
    "ifServerRecordUnchanged saves only over the record that was fetched",
    arguments: Origin.allCases)
  func ifServerRecordUnchanged(_ origin: Origin) async throws {
    try await Cloud.run { cloud in
      let (error, fields) = try await outcome(.ifServerRecordUnchanged, origin, in: cloud)
      switch origin {
      case .new:
        #expect(error == nil && fields == ["a": 3])
      case .current:
        #expect(error == nil && fields == ["a": 3, "b": 1])
      case .untagged:
        #expect(error?.code == .serverRecordChanged && fields == ["a": 1, "b": 1])
        #expect(error?.clientRecord?["a"] as? Int == 3)
        #expect(error?.serverRecord?["a"] as? Int == 1)
        #expect(error?.ancestorRecord == nil)
      case .stale:
        #expect(error?.code == .serverRecordChanged && fields == ["a": 1, "b": 2, "c": 2])
        #expect(error?.clientRecord?["a"] as? Int == 3)
        #expect(error?.clientRecord?["b"] as? Int == 1)
        #expect(error?.serverRecord?["b"] as? Int == 2)
        #expect(error?.ancestorRecord?["a"] as? Int == 1)
        #expect(error?.ancestorRecord?["b"] as? Int == 1)
        #expect(error?.serverRecord?.recordChangeTag != error?.clientRecord?.recordChangeTag)
        #expect(error?.ancestorRecord?.recordChangeTag == error?.clientRecord?.recordChangeTag)
      case .deleted:
        #expect(error?.code == .unknownItem && fields == nil)
      }
    }
  }

  @available(*, deprecated)
  @Test("changedKeys saves the changed fields over whatever there is", arguments: Origin.allCases)
  func changedKeys(_ origin: Origin) async throws {
    try await Cloud.run { cloud in
      let (error, fields) = try await outcome(.changedKeys, origin, in: cloud)
      #expect(error == nil)
      switch origin {
      case .new, .deleted: #expect(fields == ["a": 3])
      case .untagged, .current: #expect(fields == ["a": 3, "b": 1])
      case .stale: #expect(fields == ["a": 3, "b": 2, "c": 2])
      }
    }
  }

  @available(*, deprecated)
  @Test("allKeys saves all fields; those that only the server has stay", arguments: Origin.allCases)
  func allKeys(_ origin: Origin) async throws {
    try await Cloud.run { cloud in
      let (error, fields) = try await outcome(.allKeys, origin, in: cloud)
      #expect(error == nil)
      switch origin {
      case .new: #expect(fields == ["a": 3])
      case .untagged, .current, .deleted: #expect(fields == ["a": 3, "b": 1])
      case .stale: #expect(fields == ["a": 3, "b": 1, "c": 2])
      }
    }
  }

  @available(*, deprecated)
  @Test("The server's record of a conflict can be merged into and saved, the client's cannot")
  func merging() async throws {
    try await Cloud.run { cloud in
      let (error, _) = try await outcome(.ifServerRecordUnchanged, .stale, in: cloud)
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      for stale in [error?.clientRecord, error?.ancestorRecord] {
        let record = try #require(stale)
        record["a"] = 4
        let again = await #expect(throws: CKError.self) { try await phone.save(record) }
        #expect(again?.code == .serverRecordChanged)
      }
      let merged = try #require(error?.serverRecord)
      merged["a"] = 3
      let saved = try await phone.save(merged)
      #expect(saved["a"] as? Int == 3 && saved["b"] as? Int == 2)
    }
  }
}
