import CloudKit

/// The notes of a device: the user's own ones, and those that others share with the user.
///
/// All changes are made in the file first, so they need no network. An engine for each database sends
/// them, and brings those of other devices.
actor NoteStore {
  /// The zone of the user's own notes.
  static let zone = CKRecordZone(zoneName: "Notes")
  static let scopes = [CKDatabase.Scope.private, .shared]

  let container: CKContainer
  let output: @Sendable (String) -> Void
  let file: NoteFile
  /// The engines of both databases; none while the app is offline.
  private(set) var engines: [CKSyncEngine] = []

  /// Creates a store that is offline.
  ///
  /// - Parameter output: Prints one or more lines.
  init(
    container: CKContainer, file: sending NoteFile, output: @escaping @Sendable (String) -> Void
  ) {
    self.container = container
    self.file = file
    self.output = output
  }

  // MARK: Engines

  /// Starts the engines, which fetch and send from now on.
  func connect() {
    guard engines.isEmpty else { return }
    engines = Self.scopes.map { scope in
      CKSyncEngine(
        CKSyncEngine.Configuration(
          database: container.database(with: scope), stateSerialization: file[scope].state,
          delegate: self))
    }
    addUnsentChanges()
  }

  /// Ends the engines. Changes of notes wait for the next ``connect()``.
  func disconnect() async {
    for engine in engines { await engine.cancelOperations() }
    engines = []
  }

  /// Passes to the engines all that the server does not have.
  ///
  /// An engine stores its pending changes up to a tenth of a second late. So after the start its state
  /// may lack changes that are in the file.
  private func addUnsentChanges() {
    for engine in engines {
      let notes = file[engine.database.databaseScope].notes.values
      engine.state.add(pendingRecordZoneChanges: notes.compactMap(\.unsentChange))
    }
  }

  /// Fetches what other devices have changed.
  func fetch() async throws {
    for scope in Self.scopes { try await engine(scope).fetchChanges() }
  }

  /// Sends what is unsent, and returns when the server has it.
  func send() async throws {
    addUnsentChanges()
    for scope in Self.scopes {
      let engine = try engine(scope)
      do {
        try await engine.sendChanges()
      } catch let error as CKError where error.code == .partialFailure {
        // The event has reported the failures. After a conflict, the merged note waits for one more
        // send.
        if !engine.state.pendingRecordZoneChanges.isEmpty { try await engine.sendChanges() }
      }
    }
  }

  func engine(_ scope: CKDatabase.Scope) throws -> CKSyncEngine {
    guard let engine = engines.first(where: { $0.database.databaseScope == scope }) else {
      throw NoteError(text: "the program is offline")
    }
    return engine
  }

  // MARK: Notes

  /// All notes, by their titles.
  var notes: [Note] {
    Self.scopes.flatMap { file[$0].notes.values.filter { !$0.isDeleted } }
      .sorted { ($0.content.title, $0.id.recordName) < ($1.content.title, $1.id.recordName) }
  }

  var unsentCount: Int {
    Self.scopes.flatMap { file[$0].notes.values.compactMap(\.unsentChange) }.count
  }

  /// Returns the note with this title. The name of its record selects it among notes of the same
  /// title.
  func note(_ title: String) throws -> Note {
    let found = notes.filter { $0.content.title == title || $0.id.recordName == title }
    guard let note = found.first else { throw NoteError(text: "there is no note '\(title)'") }
    guard found.count == 1 else {
      let names = found.map(\.id.recordName).joined(separator: ", ")
      throw NoteError(text: "several notes are named '\(title)'; choose one of \(names)")
    }
    return note
  }

  /// Adds a note of the user's own.
  func add(_ title: String, _ text: String) {
    change(Note(NoteContent(title: title, text: text), in: Self.zone.zoneID), in: .private)
  }

  /// Changes the title or the text of a note.
  func edit(_ title: String, newTitle: String? = nil, newText: String? = nil) throws {
    var note = try note(title)
    note.content = NoteContent(
      title: newTitle ?? note.content.title, text: newText ?? note.content.text)
    change(note, in: scope(of: note))
  }

  /// Deletes a note.
  func delete(_ title: String) throws {
    var note = try note(title)
    guard scope(of: note) == .private else {
      throw NoteError(text: "'\(title)' is a note of another user; the command unshare leaves it")
    }
    note.isDeleted = true
    change(note, in: .private)
  }

  /// The scope of the database that has a note.
  func scope(of note: Note) -> CKDatabase.Scope {
    file[.shared].notes[note.id] == nil ? .private : .shared
  }

  /// Keeps a change of the user, and passes it to the engine.
  private func change(_ note: Note, in scope: CKDatabase.Scope) {
    file[scope].notes[note.id] = note
    write()
    guard let change = note.unsentChange else { return }
    engines.first { $0.database.databaseScope == scope }?
      .state.add(pendingRecordZoneChanges: [change])
  }

  /// Writes the file. After a failure, the file has the notes and the states of an earlier time, which
  /// fit together. The next write has all.
  func write() {
    do {
      try file.write()
    } catch {
      output("the notes cannot be written to the file: \(error.localizedDescription)")
    }
  }
}
