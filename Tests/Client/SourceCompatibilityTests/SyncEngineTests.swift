import CloudKit
import Foundation
import Testing

/// The shapes in which apps and libraries use the sync engine: compiled from outside the module.
struct SyncEngineTests {
  /// An app's delegate that is an actor.
  private actor Delegate: CKSyncEngineDelegate {
    var batchCount = 0

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
      switch event {
      case .stateUpdate(let update): _ = try? JSONEncoder().encode(update.stateSerialization)
      case .accountChange(let change):
        switch change.changeType {
        case .signIn(currentUser: let user), .signOut(previousUser: let user): _ = user.recordName
        case .switchAccounts(previousUser: let user, currentUser: _): _ = user.recordName
        @unknown default: break
        }
      case .fetchedDatabaseChanges(let changes):
        for deletion in changes.deletions where deletion.reason == .purged { _ = deletion.zoneID }
      case .fetchedRecordZoneChanges(let changes):
        for modification in changes.modifications { _ = modification.record.recordID }
        for deletion in changes.deletions { _ = (deletion.recordID, deletion.recordType) }
      case .sentRecordZoneChanges(let sent):
        for failure in sent.failedRecordSaves {
          guard case .serverRecordChanged = failure.error.code else { continue }
          _ = (failure.error.serverRecord, failure.record)
        }
        for (recordID, error) in sent.failedRecordDeletes { _ = (recordID, error.code) }
      case .sentDatabaseChanges(let sent):
        _ = (sent.failedZoneSaves.map(\.zone), sent.failedZoneDeletes.values.map(\.code))
      case .didFetchRecordZoneChanges(let event): _ = (event.zoneID, event.error?.code)
      case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchChanges, .willSendChanges,
        .didSendChanges:
        break
      @unknown default: break
      }
    }

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
      batchCount += 1
      let scope = context.options.scope
      let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
      var batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
        syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
        return nil
      }
      batch?.atomicByZone = true
      return batch
    }
  }

  /// A library's abstraction over the engine.
  fileprivate protocol Engine: AnyObject, Sendable {
    associatedtype EngineState
    var database: CKDatabase { get }
    var state: EngineState { get }
    func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions) async throws
    func sendChanges(_ options: CKSyncEngine.SendChangesOptions) async throws
    func cancelOperations() async
  }

  @Test("the engine's calls, options and scopes have Apple's labels and defaults")
  func shapes() async throws {
    let container = CKContainer(identifier: "iCloud.org.example.sync")
    let delegate = Delegate()
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    configuration.subscriptionID = "all"
    let engine = CKSyncEngine(configuration)
    let zoneID = CKRecordZone.ID(zoneName: "z")
    let recordID = CKRecord.ID(recordName: "r", zoneID: zoneID)
    engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
    engine.state.remove(pendingDatabaseChanges: [.deleteZone(zoneID)])
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    #expect(
      Set(engine.state.pendingRecordZoneChanges) == [
        CKSyncEngine.PendingRecordZoneChange.saveRecord(recordID)
      ])
    #expect(engine.state.pendingDatabaseChanges.count == 1)
    let scope = CKSyncEngine.SendChangesOptions.Scope.zoneIDs([zoneID])
    #expect(scope.contains(recordID) && scope.contains(.deleteRecord(recordID)))
    #expect([recordID].filter(scope.contains) == [recordID])
    let fetch = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zoneID]), operationGroup: nil)
    #expect(fetch.scope.contains(zoneID) && fetch.prioritizedZoneIDs.isEmpty)
    await #expect(throws: CKError.self) { try await engine.fetchChanges(fetch) }
    await #expect(throws: CKError.self) { try await engine.sendChanges() }
    await engine.cancelOperations()
    #expect(CKSyncEngine.RecordZoneChangeBatch().recordsToSave.isEmpty)
    #expect(engine.database.databaseScope == .private)
    #expect(CKContainer.named("iCloud.org.example.other").containerIdentifier != nil)
  }
}

extension CKSyncEngine: SyncEngineTests.Engine {}

extension CKContainer {
  fileprivate static func named(_ identifier: String) -> Self { Self(identifier: identifier) }
}
