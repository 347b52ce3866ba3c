import CSQLite
import Foundation
import StoreModel

// The mark in a file that says that its write-ahead log must be there.
//
// A server sets the mark when it opens a store, and removes it when it closes the store and has
// copied the whole log. If the mark is in the file and the log is missing, someone has removed the
// log, or copied the file without it: commits of the log are lost. SQLite would open such a file as
// if nothing had happened.
//
// While the mark is set, no connection deletes the log when it is closed (``close()``). So a log
// that a killed server left is there until a server has closed the store, whatever commands open the
// store meanwhile.
extension SQLiteConnection {
  /// Whether the mark is set, as the present transaction sees the file. The mark is SQLite's
  /// `user_version`, a number in the first page.
  package var isLogMarked: Bool {
    get throws { try first("PRAGMA user_version", []) { $0.integer(0) } == 1 }
  }

  package func markLog() throws {
    guard let path = filePath else { return }
    if try !isLogMarked { try setLogMark(1) }
    // A killed process may have left the mark in the log only.
    if !Self.isLogMarked(inFileAt: path) { _ = try eraseLog() }
  }

  package func settleLog() throws {
    guard filePath != nil, try isLogMarked else { return }
    // The mark is in the first page, which is copied first. So the other pages are copied before.
    _ = try copyLog(isAlone: true)
    try setLogMark(0)
  }

  private func setLogMark(_ mark: Int) throws {
    try beginWriting()
    try committing { try execute("PRAGMA user_version = \(mark)") }
  }

  /// Reads `user_version`, the big-endian number at offset 60 (SQLite, Database File Format, 1.3),
  /// without opening the file: without its log, SQLite may take it for damaged.
  private static func isLogMarked(inFileAt path: String) -> Bool {
    // A file that cannot be read has no mark; its opening throws the error.
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    // The same holds for bytes that cannot be read.
    guard (try? file.seek(toOffset: 60)) != nil, let bytes = try? file.read(upToCount: 4) else {
      return false
    }
    return bytes.elementsEqual([0, 0, 0, 1])
  }

  private var filePath: String? {
    sqlite3_db_filename(handle, "main").flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
  }

  /// A marked file must have its log.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` with what to do if the log is missing.
  package static func checkLog(ofFileAt path: String) throws {
    let files = FileManager.default
    // The order matters: another process may copy the log, remove the mark and delete the log.
    guard files.fileExists(atPath: path), !files.fileExists(atPath: path + "-wal"),
      isLogMarked(inFileAt: path)
    else { return }
    throw StoreError(
      .cannotOpen,
      "the store's write-ahead log '\(path)-wal' is missing, and with it changes that the server has "
        + "acknowledged: the server that used the store last did not close it, or only its file was "
        + "copied. Put the log back beside the file, or restore a backup. To go on without the log, "
        + "run 'petrel store restored --data DIRECTORY', so that devices read all data again; with "
        + "--nothing-lost if the file has all changes, because another program copied the log into it"
    )
  }
}
