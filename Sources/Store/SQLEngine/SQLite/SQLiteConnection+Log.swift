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

  package func copyLog(isAlone: Bool) throws -> Int {
    try checkpoint(isAlone ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE).copied
  }

  private func checkpoint(_ mode: Int32) throws -> (isDone: Bool, copied: Int) {
    try damage?.check()
    sqlite3_busy_timeout(handle, Self.patienceMilliseconds)
    defer { sqlite3_busy_timeout(handle, busyTimeout) }
    var copied: Int32 = 0
    let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, &copied)
    // Busy means that a reader took longer. The pages that `copied` counts are in the database all
    // the same.
    guard result == SQLITE_OK || result == SQLITE_BUSY else { throw failure("checkpoint") }
    return (result == SQLITE_OK, Int(max(0, copied)))
  }

  package func eraseLog() throws -> Bool {
    let (isDone, _) = try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    if isDone { loggedPages = 0 }
    return isDone
  }

  /// A database in memory has no log.
  package func renewLog() throws {
    guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return }
    try beginWriting()
    defer { giveUpTransaction() }
    try LogRenewal.renew(logAt: String(cString: name) + "-wal")
  }
}

extension SQLiteConnection {
  /// Vacuums into a new file whose pages have seals.
  package func write(into path: String) throws {
    reserveRoomForSeals()
    try run("VACUUM INTO $1", [.text(path)])
  }

  /// Copies the database, as the open transaction sees it, into a new file.
  ///
  /// - Parameter report: gets the numbers of copied and of all pages after each `pagesAtOnce`
  ///   pages.
  /// - Throws: ``StoreError/Code/corrupt`` if a page of the source is damaged,
  ///   ``StoreError/Code/cannotOpen`` if the copy cannot be written.
  package func copy(to path: String, pagesAtOnce: Int, _ report: (Int, Int) -> Void) throws {
    var target: OpaquePointer?
    Self.makePrivateFile(path)
    // If the process dies, the incomplete copy is useless, so it needs no journal.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    defer { sqlite3_close_v2(target) }
    let system = isSealed ? GatheringFileSystem.name : nil
    guard sqlite3_open_v2(path, &target, flags, system) == SQLITE_OK,
      sqlite3_exec(target, "PRAGMA journal_mode = OFF", nil, nil, nil) == SQLITE_OK,
      let backup = sqlite3_backup_init(target, "main", handle, "main")
    else {
      throw StoreError(
        .cannotOpen, "'\(path)' cannot be written: \(String(cString: sqlite3_errmsg(target)))")
    }
    var result = SQLITE_OK
    while result == SQLITE_OK {
      result = sqlite3_backup_step(backup, Int32(pagesAtOnce))
      let pages = Int(sqlite3_backup_pagecount(backup))
      report(pages - Int(sqlite3_backup_remaining(backup)), pages)
    }
    let end = sqlite3_backup_finish(backup)
    guard result == SQLITE_DONE, end == SQLITE_OK else {
      if let found = file?.damage {
        throw StoreError(.corrupt, "\(found): \(PageDamage.advice)")
      }
      throw StoreError(
        .cannotOpen,
        "'\(path)' could not be written completely: \(String(cString: sqlite3_errmsg(target)))")
    }
  }
}
