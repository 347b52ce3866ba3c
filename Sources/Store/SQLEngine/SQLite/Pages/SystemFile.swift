import CSQLite
import StoreModel

/// A file opened for reading through SQLite's file system, but outside of its connections.
///
/// POSIX locks belong to the process. If the program opened and closed the file directly, the
/// system would release the locks that the process's connections have on the file.
package final class SystemFile {
  private let pointer: UnsafeMutablePointer<sqlite3_file>
  private let name: UnsafeMutablePointer<CChar>

  /// The most bytes of a read: a limit of SQLite's file system.
  package static let greatestRead = 31 * PageCache.pageSize

  /// Returns nil if the file cannot be opened. The flags give the kind, such as `SQLITE_OPEN_WAL`.
  package init?(_ path: String, flags: Int32 = SQLITE_OPEN_MAIN_DB) {
    guard let system = GatheringFileSystem.system else { return nil }
    // SQLite looks for URI parameters after the name, up to another zero.
    let bytes = Array(path.utf8CString) + [0, 0, 0]
    name = .allocate(capacity: bytes.count)
    name.initialize(from: bytes, count: bytes.count)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(system.pointee.szOsFile), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    pointer = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
    var outFlags: Int32 = 0
    guard
      system.pointee.xOpen(system, name, pointer, flags | SQLITE_OPEN_READONLY, &outFlags)
        == SQLITE_OK
    else { return nil }
  }

  deinit {
    // A file that could not be opened has no methods.
    if let methods = pointer.pointee.pMethods { _ = methods.pointee.xClose(pointer) }
    name.deallocate()
    UnsafeMutableRawPointer(pointer).deallocate()
  }

  /// The size in bytes; 0 if the system does not report it.
  package var size: Int {
    var size: Int64 = 0
    let result = pointer.pointee.pMethods.pointee.xFileSize(pointer, &size)
    return result == SQLITE_OK ? Int(size) : 0
  }

  /// Bytes after the end read as 0.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the disk fails.
  package func read(_ buffer: UnsafeMutableRawPointer, count: Int, at offset: Int) throws {
    let result = pointer.pointee.pMethods.pointee.xRead(
      pointer, buffer, Int32(count), Int64(offset))
    guard result == SQLITE_OK || result == SQLiteResult.shortRead else {
      throw StoreError(
        .cannotOpen,
        "'\(String(cString: name))' cannot be read at byte \(offset): the disk fails (see dmesg)")
    }
  }
}
