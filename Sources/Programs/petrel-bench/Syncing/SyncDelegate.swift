import CloudKit
import Synchronization

/// The delegate of a measured engine. It makes the records when the engine sends them, and keeps none.
final class SyncDelegate: CKSyncEngineDelegate {
  /// Gets the IDs of the records of an event.
  typealias Receiver = @Sendable ([CKRecord.ID]) -> Void

  private let fetched: Receiver
  private let sent: Receiver
  /// The file for the states; nil to ignore the states.
  private let stateFile: URL?
  private let failures = Mutex<[any Error]>([])

  /// Creates a delegate.
  ///
  /// - Parameter stateFile: The file to which each state is written as JSON, as apps do. With nil,
  ///   the delegate ignores the states.
  init(
    stateFile: URL? = nil, fetched: @escaping Receiver = { _ in },
    sent: @escaping Receiver = { _ in }
  ) {
    self.stateFile = stateFile
    self.fetched = fetched
    self.sent = sent
  }

  /// The first error of an event; nil if there was none.
  var failure: (any Error)? { failures.withLock { $0.first } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .fetchedRecordZoneChanges(let changes):
      fetched(changes.modifications.map(\.record.recordID))
    case .sentRecordZoneChanges(let changes):
      sent(changes.savedRecords.map(\.recordID))
      for failed in changes.failedRecordSaves { fail(failed.error) }
    case .didFetchRecordZoneChanges(let end): if let error = end.error { fail(error) }
    case .stateUpdate(let update): store(update.stateSerialization)
    case .accountChange, .fetchedDatabaseChanges, .sentDatabaseChanges, .willFetchChanges,
      .willFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) {
      EarthquakeRecords.record($0)
    }
  }

  private func store(_ state: CKSyncEngine.State.Serialization) {
    guard let stateFile else { return }
    do {
      try JSONEncoder().encode(state).write(to: stateFile, options: .atomic)
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) { failures.withLock { $0.append(error) } }
}

extension CKSyncEngine {
  /// Creates an engine that works only when it is asked to, without a state.
  convenience init(manually database: CKDatabase, _ delegate: SyncDelegate) {
    var configuration = Configuration(
      database: database, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    self.init(configuration)
  }
}
