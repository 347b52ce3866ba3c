import CloudKit
import Foundation
import Synchronization

/// A device with an engine, which keeps records as an app does: it stores what events bring, and sends
/// what it changes.
final class SyncDevice: CKSyncEngineDelegate {
  /// The state of the device, which any thread may read.
  struct State {
    var engine: CKSyncEngine?
    /// The records that the device has, as it would keep them on disk.
    var records: [CKRecord.ID: CKRecord] = [:]
    /// The titles that the device has set and the server may not have.
    var edits: [CKRecord.ID: String] = [:]
    /// The records that the device has deleted and the server may have.
    var deleted: Set<CKRecord.ID> = []
    var events: [CKSyncEngine.Event] = []
    var stored: CKSyncEngine.State.Serialization?
    /// The number of calls of the delegate that run.
    var callCount = 0
    var mostCalls = 0
  }

  let state = Mutex(State())
  let database: CKDatabase
  let zoneID: CKRecordZone.ID
  /// Called for each event, before the device handles it.
  let onEvent = Mutex<@Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void>({ _, _ in })
  /// Returns the options of each request of a fetch.
  let options = Mutex<
    @Sendable (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions
  >(
    { $0.options })
  /// Returns the next batch; `nil` for the device's own.
  let batch = Mutex<
    @Sendable (CKSyncEngine.SendChangesContext, CKSyncEngine) -> CKSyncEngine.RecordZoneChangeBatch?
  >({ _, _ in nil })

  init(_ database: CKDatabase, zone: CKRecordZone.ID = CKRecordZone.ID(zoneName: "notes")) {
    self.database = database
    zoneID = zone
  }

  // MARK: The engine

  var engine: CKSyncEngine {
    // The tests start the engine first.
    state.withLock { $0.engine! }
  }

  /// Starts an engine from the stored state. A former engine is released.
  @discardableResult
  func start(
    automatically: Bool = false, subscriptionID: String? = nil
  ) -> CKSyncEngine {
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: state.withLock { $0.stored }, delegate: self)
    configuration.automaticallySync = automatically
    configuration.subscriptionID = subscriptionID
    let engine = CKSyncEngine(configuration)
    state.withLock { $0.engine = engine }
    return engine
  }

  /// Makes all changes pending that the server may not have. The stored state may be older than they.
  func addUnsent() {
    let changes = state.withLock { state in
      state.edits.keys.map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0) }
        + state.deleted.map { .deleteRecord($0) }
    }
    engine.state.add(pendingRecordZoneChanges: changes)
  }

  /// Forgets the events so far.
  func clear() { state.withLock { $0.events = [] } }

  var events: [CKSyncEngine.Event] { state.withLock { $0.events } }

  /// The names of the events, without updates of the state.
  var eventNames: [String] {
    events.map { String($0.description.prefix { $0 != "(" }) }.filter { $0 != "stateUpdate" }
  }

  /// The titles of the device's records, by record name.
  var titles: [String: String] {
    state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.records.map {
          ($0.recordName, state.edits[$0] ?? $1["title"] as? String ?? "")
        })
    }
  }

  // MARK: Edits

  func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

  /// Sets the titles of records, and makes them pending.
  func edit(_ titles: [String: String]) {
    let ids = titles.keys.sorted().map { id($0) }
    state.withLock { state in
      for recordID in ids {
        if state.records[recordID] == nil {
          state.records[recordID] = CKRecord(recordType: "Note", recordID: recordID)
        }
        state.edits[recordID] = titles[recordID.recordName]
        state.deleted.remove(recordID)
      }
    }
    engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
  }

  func delete(_ name: String) {
    state.withLock {
      $0.records[id(name)] = nil
      $0.edits[id(name)] = nil
      $0.deleted.insert(id(name))
    }
    engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id(name))])
  }

  // MARK: The delegate

  private func call<Result>(_ body: () async -> Result) async -> Result {
    state.withLock {
      $0.callCount += 1
      $0.mostCalls = max($0.mostCalls, $0.callCount)
    }
    defer { state.withLock { $0.callCount -= 1 } }
    return await body()
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    await call {
      await onEvent.withLock { $0 }(event, syncEngine)
      state.withLock { $0.events.append(event) }
      switch event {
      case .stateUpdate(let update): state.withLock { $0.stored = update.stateSerialization }
      case .accountChange(let change):
        if case .signIn = change.changeType {
          syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
        } else {
          state.withLock {
            $0.records = [:]
            $0.edits = [:]
          }
        }
      case .fetchedDatabaseChanges(let changes):
        for deletion in changes.deletions {
          state.withLock { state in
            state.records = state.records.filter { $0.key.zoneID != deletion.zoneID }
          }
        }
      case .fetchedRecordZoneChanges(let changes):
        state.withLock { state in
          for modification in changes.modifications
          where !state.deleted.contains(modification.record.recordID) {
            state.records[modification.record.recordID] = modification.record
          }
          for deletion in changes.deletions {
            state.records[deletion.recordID] = nil
            state.edits[deletion.recordID] = nil
            state.deleted.remove(deletion.recordID)
          }
        }
      case .sentRecordZoneChanges(let sent): handle(sent, syncEngine)
      case .sentDatabaseChanges, .willFetchChanges, .willFetchRecordZoneChanges,
        .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
        break
      @unknown default: break
      }
    }
  }

  private func handle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) {
    state.withLock { state in
      for record in sent.savedRecords {
        guard state.records[record.recordID] != nil else { continue }
        state.records[record.recordID] = record
        if state.edits[record.recordID] == record["title"] as? String {
          state.edits[record.recordID] = nil
        }
      }
      state.deleted.subtract(sent.deletedRecordIDs)
      for failure in sent.failedRecordSaves {
        let recordID = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
          // The greater title wins, so that all devices decide alike.
          guard let server = failure.error.serverRecord else { continue }
          let theirs = server["title"] as? String ?? ""
          state.records[recordID] = server
          guard let own = state.edits[recordID], own > theirs else {
            state.edits[recordID] = nil
            continue
          }
          engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
        case .zoneNotFound:
          state.records[recordID] = CKRecord(recordType: "Note", recordID: recordID)
          engine.state.add(pendingDatabaseChanges: [
            .saveZone(CKRecordZone(zoneID: recordID.zoneID))
          ])
          engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
        case .unknownItem:
          state.records[recordID] = nil
          state.edits[recordID] = nil
        default: break
        }
      }
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await call {
      if let batch = batch.withLock({ $0 })(context, syncEngine) { return batch }
      let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
      return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
        let record = state.withLock { state -> CKRecord? in
          guard let title = state.edits[recordID],
            let record = state.records[recordID]?.copy() as? CKRecord
          else { return nil }
          record["title"] = title
          return record
        }
        if record == nil {
          syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
        }
        return record
      }
    }
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    await call { options.withLock { $0 }(context) }
  }
}

/// The error that `body` throws; `nil` if it throws none.
func syncError(_ body: () async throws -> Void) async -> CKError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? CKError
  }
}
