import CloudKit

/// The notes of one database, with the state of its engine.
struct DatabaseCopy: Codable {
  var notes: [Note.ID: Note] = [:]
  /// Nil before the engine has worked for the first time.
  var state: CKSyncEngine.State.Serialization?
  /// The notes with unsent changes of users who have signed out, by the names of the users' records.
  var waitingNotes: [String: [Note]] = [:]
}

/// The file in which a device keeps its notes.
///
/// Notes and states are written together, so the file always fits together: a state never says that
/// the engine has fetched a note that the file does not have.
final class NoteFile {
  /// The contents, by the scopes of the databases.
  private struct Contents: Codable {
    var privateDatabase = DatabaseCopy()
    var sharedDatabase = DatabaseCopy()
  }

  private let url: URL
  /// An open file that is locked, until the process ends.
  private let lock: FileHandle
  private var contents = Contents()

  /// Reads a file; a missing file is empty.
  ///
  /// - Throws: `NoteError` if another process uses the file, or the file is damaged.
  init(_ url: URL) throws {
    self.url = url
    // The file itself cannot be locked, because each write replaces it.
    let lockPath = url.path + ".lock"
    let descriptor = open(lockPath, O_CREAT | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw NoteError(text: "\(lockPath) cannot be written") }
    lock = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw NoteError(text: "another process uses \(url.path); each device needs a file of its own")
    }
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    do {
      contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: url))
    } catch {
      throw NoteError(text: "\(url.path) cannot be read: \(error)")
    }
  }

  /// The copy of the private or of the shared database. A change is in the file after ``write()``.
  subscript(scope: CKDatabase.Scope) -> DatabaseCopy {
    get { scope == .shared ? contents.sharedDatabase : contents.privateDatabase }
    set {
      if scope == .shared {
        contents.sharedDatabase = newValue
      } else {
        contents.privateDatabase = newValue
      }
    }
  }

  /// Writes the contents. A process that is killed meanwhile leaves the former file.
  func write() throws {
    try JSONEncoder().encode(contents).write(to: url, options: .atomic)
  }
}
