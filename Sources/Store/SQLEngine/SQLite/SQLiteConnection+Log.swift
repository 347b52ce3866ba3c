import CSQLite
import StoreModel

extension SQLiteConnection {
  /// SQLite then no longer copies the log by itself.
  func countLoggedPages() {
    sqlite3_wal_hook(
      handle,
      { connection, _, _, pages in
        guard let connection else { return SQLITE_OK }
        // The connection closes the handle, and with it the hook, before the connection is freed.
        Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().loggedPages =
          Int(pages)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Milliseconds to wait for readers of the log. Only large searches take longer.
  private static let patienceMilliseconds: Int32 = 10

  /// Waits for readers only if the writer waits.
  package func copyLog(isAlone: Bool) throws -> Int {
    try damage?.check()
    sqlite3_busy_timeout(handle, Self.patienceMilliseconds)
    defer { sqlite3_busy_timeout(handle, busyTimeout) }
    var copied: Int32 = 0
    let mode = isAlone ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE
    let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, &copied)
    // Busy means that a reader took longer. The pages that `copied` counts are in the database all
    // the same.
    guard result == SQLITE_OK || result == SQLITE_BUSY else { throw failure("checkpoint") }
    return Int(max(0, copied))
  }

  /// Returns false if a connection reads from the log for longer than `patienceMilliseconds`.
  package func eraseLog() throws -> Bool {
    try damage?.check()
    sqlite3_busy_timeout(handle, Self.patienceMilliseconds)
    defer { sqlite3_busy_timeout(handle, busyTimeout) }
    let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard result == SQLITE_OK || result == SQLITE_BUSY else { throw failure("checkpoint") }
    if result == SQLITE_OK { loggedPages = 0 }
    return result == SQLITE_OK
  }

  /// A database in memory has no log.
  package func renewLog() throws {
    guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return }
    try beginWriting()
    defer { giveUpTransaction() }
    try LogRenewal.renew(logAt: String(cString: name) + "-wal")
  }
}
