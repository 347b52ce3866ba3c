import CSQLite
import Foundation

/// The file system of the store's connections: SQLite's own with two additions
/// (https://sqlite.org/vfs.html). It checks the pages of databases (``DatabaseFile``) and of
/// write-ahead logs (``SealedLog``), and puts a ``WriteAheadLogBuffer`` before each log.
///
/// Use it only for connections with `synchronous=FULL`: the buffer delays writes until the sync.
enum GatheringFileSystem {
  static let name: String? = {
    guard let system else { return nil }
    // The memory of the file system and of its name is never freed, because SQLite uses it until
    // the process ends.
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    own.initialize(to: system.pointee)
    own.pointee.zName = UnsafePointer(strdup("petrel"))
    own.pointee.pNext = nil
    own.pointee.szOsFile = Int32(LogFile.systemFileOffset) + system.pointee.szOsFile
    own.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let system = GatheringFileSystem.system, let file else { return SQLITE_CANTOPEN }
      guard flags & SQLITE_OPEN_WAL != 0 else {
        let result = system.pointee.xOpen(system, path, file, flags, outFlags)
        if result == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0 {
          DatabaseFile.wrap(file, path: path.map { String(cString: $0) } ?? "")
        }
        return result
      }
      let database = path.flatMap { sqlite3_database_file_object($0) }.map { DatabaseFile($0) }
      return LogFile(at: file).open(of: database) {
        system.pointee.xOpen(system, path, $0, flags, outFlags)
      }
    }
    guard sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
    return "petrel"
  }()

  /// SQLite's own file system, which never changes after initialization.
  nonisolated(unsafe) static let system: UnsafeMutablePointer<sqlite3_vfs>? = {
    // The configuration must come first, because the call below initializes SQLite.
    _ = SQLiteConnection.isConfigured
    return sqlite3_vfs_find(nil)
  }()

  /// The size of a file of SQLite's own file system, rounded up to a pointer's alignment.
  static let systemFileBytes = ((system.map { Int($0.pointee.szOsFile) } ?? 0) + 7) / 8 * 8
}
