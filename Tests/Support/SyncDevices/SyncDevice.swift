package import CloudKit
import Foundation
package import Synchronization

/// A device with an engine, which keeps records as an app does: it stores what events bring, and sends
/// what it changes.
package final class SyncDevice: CKSyncEngineDelegate {
  /// The state of the device, which any thread may read.
  package struct State {
    package var engine: CKSyncEngine?
    /// The records that the device has, as it would keep them on disk.
    package var records: [CKRecord.ID: CKRecord] = [:]
    /// The titles that the device has set and the server may not have.
    package var edits: [CKRecord.ID: String] = [:]
    /// The records that the device has deleted and the server may have.
    package var deleted: Set<CKRecord.ID> = []
    package var events: [CKSyncEngine.Event] = []
    package var stored: CKSyncEngine.State.Serialization?
    /// The number of events before the process is killed; nil if it is not.
    package var eventsUntilKill: Int?
    /// The number of calls of the delegate that run.
    package var callCount = 0
    package var mostCalls = 0
  }

  package let state = Mutex(State())
  package let database: CKDatabase
  package let zoneID: CKRecordZone.ID
  /// Called for each event, before the device handles it.
  package let onEvent = Mutex<@Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void>({ _, _ in
  })
  /// Returns the options of each request of a fetch.
  package let options = Mutex<Options>({ $0.options })
  /// Returns the next batch; `nil` for the device's own.
  package let batch = Mutex<Batch>({ _, _ in nil })

  package typealias Options =
    @Sendable (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions
  package typealias Batch =
    @Sendable (CKSyncEngine.SendChangesContext, CKSyncEngine) ->
    CKSyncEngine.RecordZoneChangeBatch?

  package init(_ database: CKDatabase, zone: CKRecordZone.ID = CKRecordZone.ID(zoneName: "notes")) {
    self.database = database
    zoneID = zone
  }

  // MARK: The engine

  package var engine: CKSyncEngine {
    // The tests start the engine first.
    state.withLock { $0.engine! }
  }

  /// Starts an engine from the stored state. A former engine is released.
  @discardableResult
  package func start(
    automatically: Bool = false, subscriptionID: String? = nil
  ) -> CKSyncEngine {
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: state.withLock { $0.stored }, delegate: self)
    configuration.automaticallySync = automatically
    configuration.subscriptionID = subscriptionID
    let engine = CKSyncEngine(configuration)
    state.withLock {
      $0.engine = engine
      $0.eventsUntilKill = nil
    }
    return engine
  }

  /// Kills the process after that many events: the device does nothing more before the next start.
  package func kill(afterEvents count: Int) { state.withLock { $0.eventsUntilKill = count } }

  /// Makes all changes pending that the server may not have. The stored state may be older than they.
  package func addUnsent() {
    let changes = state.withLock { state in
      state.edits.keys.map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0) }
        + state.deleted.map { .deleteRecord($0) }
    }
    engine.state.add(pendingRecordZoneChanges: changes)
  }

  /// Forgets the events so far.
  package func clear() { state.withLock { $0.events = [] } }

  package var events: [CKSyncEngine.Event] { state.withLock { $0.events } }

  /// The names of the events, without updates of the state.
  package var eventNames: [String] {
    events.map { String($0.description.prefix { $0 != "(" }) }.filter { $0 != "stateUpdate" }
  }

  /// The titles of the device's records, by record name.
  package var titles: [String: String] {
    state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.records.map {
          ($0.recordName, state.edits[$0] ?? $1["title"] as? String ?? "")
        })
    }
  }

  // MARK: Edits

  package func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

  /// Sets the titles of records, and makes them pending.
  package func edit(_ titles: [String: String]) {
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

  package func delete(_ name: String) {
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

  package func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let isKilled = state.withLock { state in
      guard let count = state.eventsUntilKill else { return false }
      state.eventsUntilKill = max(0, count - 1)
      return count == 0
    }
    if isKilled { return }
    await call {
      await onEvent.withLock { $0 }(event, syncEngine)
      state.withLock { $0.events.append(event) }
      switch event {
      case .stateUpdate(let update): state.withLock { $0.stored = update.stateSerialization }
      case .accountChange(let change):
        if case .signIn = change.changeType {
          // A participant cannot save the zone of another user.
          guard database.databaseScope == .private else { break }
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

  package func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    if state.withLock({ $0.eventsUntilKill == 0 }) { return nil }
    return await call {
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

  package func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    await call { options.withLock { $0 }(context) }
  }
}

/// The error that `body` throws; `nil` if it throws none.
package func syncError(_ body: () async throws -> Void) async -> CKError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? CKError
  }
}
