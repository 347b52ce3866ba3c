import CloudKit

/// The changes of the notes that events of the engines bring.
extension NoteStore {
  /// Keeps a note, and passes to the engine what is unsent of it.
  private func keep(_ note: Note, of engine: CKSyncEngine) {
    file[engine.scope].notes[note.id] = note
    if let change = note.unsentChange { engine.state.add(pendingRecordZoneChanges: [change]) }
  }

  // MARK: The account

  func changeAccount(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType, of engine: CKSyncEngine
  ) {
    switch change {
    case .signIn(let user):
      begin(for: user, of: engine)
    case .signOut(let user):
      end(for: user, of: engine)
      if engine.scope == .private { output("signed out") }
    case .switchAccounts(let previous, let user):
      end(for: previous, of: engine)
      begin(for: user, of: engine)
    @unknown default:
      break
    }
  }

  /// Begins with what a user has on the server. Only notes with unsent changes stay: those that were
  /// written before the sign-in, and those of the user's last time on this device.
  private func begin(for user: CKRecord.ID, of engine: CKSyncEngine) {
    let waiting = file[engine.scope].waitingNotes.removeValue(forKey: user.recordName) ?? []
    let notes = waiting + file[engine.scope].notes.values.filter { $0.unsentChange != nil }
    file[engine.scope].notes = [:]
    if engine.scope == .private {
      engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
      output("signed in")
    }
    for note in notes { keep(note, of: engine) }
  }

  /// Removes the notes of a user. Those with unsent changes wait, out of sight, for the user's return.
  private func end(for user: CKRecord.ID, of engine: CKSyncEngine) {
    let waiting = file[engine.scope].notes.values.filter { $0.unsentChange != nil }
    file[engine.scope].waitingNotes[user.recordName] = waiting.isEmpty ? nil : waiting
    file[engine.scope].notes = [:]
    // The engine begins anew too, even if the process is killed before the engine's next state.
    file[engine.scope].state = nil
  }

  // MARK: Fetched changes

  /// Takes over a record from the server.
  func take(_ record: CKRecord, of engine: CKSyncEngine) {
    guard var note = file[engine.scope].notes[Note.ID(record.recordID)] else {
      let note = Note(record)
      keep(note, of: engine)
      return output("new: \(note.line)")
    }
    let before = note.content
    note.merge(record)
    keep(note, of: engine)
    if !note.isDeleted, !note.content.isSame(as: before) { output("changed: \(note.line)") }
  }

  /// Removes a note that another device has deleted. If it has an unsent change, the change wins: the
  /// note is saved again. A note of another user cannot be saved again.
  func remove(_ id: Note.ID, of engine: CKSyncEngine) {
    guard var note = file[engine.scope].notes[id] else { return }
    if engine.scope == .private, !note.isDeleted, note.unsentChange != nil {
      note.server = nil
      keep(note, of: engine)
      output("deleted elsewhere, and kept because of your edit: \(note.line)")
    } else {
      file[engine.scope].notes[id] = nil
      if !note.isDeleted { output("deleted: \(note.line)") }
    }
  }

  /// Removes the notes of a zone that is gone. In the shared database, a user has stopped sharing it,
  /// or this user has left it.
  func removeNotes(of deletion: CKDatabase.DatabaseChange.Deletion, of engine: CKSyncEngine) {
    for note in file[engine.scope].notes.values
    where note.id.recordID.zoneID == deletion.zoneID {
      switch deletion.reason {
      case .deleted:
        remove(note.id, of: engine)
      case .purged:
        // The user has deleted all data of the app, also what this device has.
        file[engine.scope].notes[note.id] = nil
      case .encryptedDataReset:
        // The server cannot read its data any more, and asks for it.
        var note = note
        note.server = nil
        keep(note, of: engine)
      @unknown default:
        remove(note.id, of: engine)
      }
    }
  }

  // MARK: Sent changes

  /// Notes that the server has a note. The user may have changed the note meanwhile.
  func noteSaved(_ record: CKRecord, of engine: CKSyncEngine) {
    guard var note = file[engine.scope].notes[Note.ID(record.recordID)] else { return }
    note.server = Note.ServerVersion(record)
    keep(note, of: engine)
  }

  /// Handles an error of a save. The engine sends again what failed for a reason that passes. All else
  /// is for the app to decide.
  func handle(_ error: CKError, saving recordID: CKRecord.ID, of engine: CKSyncEngine) {
    guard var note = file[engine.scope].notes[Note.ID(recordID)] else { return }
    switch error.code {
    case .serverRecordChanged:
      guard let record = error.serverRecord else { return }
      note.merge(record)
      keep(note, of: engine)
      if !note.isDeleted { output("merged: \(note.line)") }
    case .batchRequestFailed:
      keep(note, of: engine)
    case .unknownItem, .zoneNotFound, .userDeletedZone:
      if engine.scope == .private, error.code != .unknownItem {
        engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
      }
      remove(note.id, of: engine)
    case .permissionFailure:
      note.content = note.server?.content ?? note.content
      keep(note, of: engine)
      output("you may not change this note: \(note.line)")
    default:
      if !error.passes { output("not sent: \(note.line) (\(error.localizedDescription))") }
    }
  }

  func handle(_ error: CKError, deleting recordID: CKRecord.ID, of engine: CKSyncEngine) {
    guard var note = file[engine.scope].notes[Note.ID(recordID)] else { return }
    switch error.code {
    case .unknownItem, .zoneNotFound, .userDeletedZone:
      file[engine.scope].notes[note.id] = nil
    default:
      if error.passes { return }
      note.isDeleted = false
      keep(note, of: engine)
      output("not deleted: \(note.line) (\(error.localizedDescription))")
    }
  }
}

extension CKSyncEngine {
  var scope: CKDatabase.Scope { database.databaseScope }
}

extension CKError {
  /// Whether the engine itself sends again what failed with this error.
  var passes: Bool {
    switch code {
    case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy,
      .notAuthenticated, .accountTemporarilyUnavailable, .operationCancelled, .serverResponseLost:
      true
    default: false
    }
  }
}

extension Note {
  /// The note in one line. A note of another user may have any characters, so control characters are
  /// left out.
  var line: String {
    let line = content.title + (content.text.isEmpty ? "" : ": " + content.text)
    return String(
      String.UnicodeScalarView(
        line.unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}
