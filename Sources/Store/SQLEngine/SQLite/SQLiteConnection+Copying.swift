import CSQLite
import StoreModel

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
