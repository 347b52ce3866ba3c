import CloudKit

/// The smallest app with an engine: titles that are the same on all devices of a user.
actor TitleSync: CKSyncEngineDelegate {
  static let zone = CKRecordZone(zoneName: "Titles")

  let database: CKDatabase
  private(set) var titles: [CKRecord.ID: String] = [:]
  private(set) lazy var engine = CKSyncEngine(
    CKSyncEngine.Configuration(database: database, stateSerialization: nil, delegate: self))

  init(_ database: CKDatabase) { self.database = database }

  func set(_ title: String, of recordID: CKRecord.ID) {
    titles[recordID] = title
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .accountChange:
      syncEngine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    case .fetchedRecordZoneChanges(let changes):
      for change in changes.modifications {
        titles[change.record.recordID] = change.record["title"]
      }
      for deletion in changes.deletions { titles[deletion.recordID] = nil }
    default:
      break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
    let titles = titles
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
      let record = CKRecord(recordType: "Title", recordID: recordID)
      record["title"] = titles[recordID]
      return record
    }
  }
}
