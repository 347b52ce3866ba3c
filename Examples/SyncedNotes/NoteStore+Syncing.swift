import CloudKit

/// The work with the engines.
///
/// No method of an event waits for anything. So the user changes no note between the steps of a method.
extension NoteStore: CKSyncEngineDelegate {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    // An engine that was ended may have an event left. Its state is not stored either.
    guard engines.contains(where: { $0 === syncEngine }) else { return }
    switch event {
    case .stateUpdate(let update):
      file[syncEngine.scope].state = update.stateSerialization
    case .accountChange(let change):
      changeAccount(change.changeType, of: syncEngine)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions { removeNotes(of: deletion, of: syncEngine) }
    case .fetchedRecordZoneChanges(let changes):
      for modification in changes.modifications
      where modification.record.recordType == Note.recordType {
        take(modification.record, of: syncEngine)
      }
      for deletion in changes.deletions where deletion.recordType == Note.recordType {
        remove(Note.ID(deletion.recordID), of: syncEngine)
      }
    case .sentDatabaseChanges(let sent):
      for failure in sent.failedZoneSaves where !failure.error.passes {
        output("the server refuses the zone of the notes: \(failure.error.localizedDescription)")
      }
    case .sentRecordZoneChanges(let sent):
      for record in sent.savedRecords { noteSaved(record, of: syncEngine) }
      for failure in sent.failedRecordSaves {
        handle(failure.error, saving: failure.record.recordID, of: syncEngine)
      }
      for recordID in sent.deletedRecordIDs {
        file[syncEngine.scope].notes[Note.ID(recordID)] = nil
      }
      for (recordID, error) in sent.failedRecordDeletes {
        handle(error, deleting: recordID, of: syncEngine)
      }
    case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
      .didFetchChanges, .willSendChanges, .didSendChanges:
      return
    @unknown default:
      return
    }
    write()
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
      await self.recordToSave(recordID, of: syncEngine)
    }
  }

  /// Returns the record of a pending save; nil if the server has the note, or it shall be deleted.
  private func recordToSave(_ recordID: CKRecord.ID, of engine: CKSyncEngine) -> CKRecord? {
    guard let note = file[engine.scope].notes[Note.ID(recordID)],
      note.unsentChange == .saveRecord(recordID)
    else {
      engine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
      return nil
    }
    return note.record
  }
}
