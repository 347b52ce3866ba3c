import Testing

@testable import CloudKit

struct SyncEngineStateTests {
  @Test("A change of a state needs no more of the stack than those before")
  func stack() throws {
    let state = CKSyncEngine.State(
      SyncState(),
      of: .init(
        container: "iCloud.com.example.app", environment: "development",
        scope: CKDatabase.Scope.private.rawValue))
    let places = Locked<[UInt]>([])
    state.onChange.withLock {
      $0.note = { _ in
        var local = 0
        let place = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
        places.withLock { $0.append(place) }
      }
    }
    let zoneID = CKRecordZone.ID(zoneName: "notes")
    for number in 0..<1_000 {
      let recordID = CKRecord.ID(recordName: "note-\(number)", zoneID: zoneID)
      state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }
    let all = places.withLock { $0 }
    #expect(all.count == 1_000)
    let (lowest, highest) = (try #require(all.min()), try #require(all.max()))
    #expect(highest - lowest < 4_096)
  }
}
