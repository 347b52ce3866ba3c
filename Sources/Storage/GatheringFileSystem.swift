import CSQLite
import Foundation

/// The file system of SQLite's own, but for write-ahead logs, which are written through a
/// ``WriteAheadLogBuffer``, and for databases, of which what is mapped is read ahead of
/// (``DatabaseFile``; https://sqlite.org/vfs.html).
///
/// It is for connections with `synchronous=FULL` alone.
enum GatheringFileSystem {
  /// Under this name connections ask for it; nil when SQLite refused it.
  static let name: String? = {
    guard let system else { return nil }
    // Neither is ever freed: SQLite keeps both until the process ends.
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    own.initialize(to: system.pointee)
    own.pointee.zName = UnsafePointer(strdup("petrel"))
    own.pointee.pNext = nil
    own.pointee.szOsFile = Int32(LogFile.systemFileOffset) + system.pointee.szOsFile
    own.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let system = GatheringFileSystem.system, let file else { return SQLITE_CANTOPEN }
      guard flags & SQLITE_OPEN_WAL != 0 else {
        let result = system.pointee.xOpen(system, path, file, flags, outFlags)
        if result == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0 { DatabaseFile.wrap(file) }
        return result
      }
      return LogFile(at: file).open { system.pointee.xOpen(system, path, $0, flags, outFlags) }
    }
    guard sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
    return "petrel"
  }()

  /// SQLite's own, which never changes once it is there.
  nonisolated(unsafe) private static let system = sqlite3_vfs_find(nil)

  /// The memory of a file of the system, up to where a pointer may lie.
  static let systemFileBytes = ((system.map { Int($0.pointee.szOsFile) } ?? 0) + 7) / 8 * 8
}

/// The memory that SQLite gives for an open write-ahead log: the methods, where SQLite looks for
/// them, the buffer, and the file of the system.
struct LogFile {
  private let start: UnsafeMutableRawPointer

  private static let bufferOffset = MemoryLayout<sqlite3_file>.stride
  /// Aligned for whatever the system's file holds.
  static let systemFileOffset = 32

  init(at file: UnsafeMutablePointer<sqlite3_file>) {
    start = UnsafeMutableRawPointer(file)
  }

  /// The memory for the file of the system.
  private var systemFile: UnsafeMutablePointer<sqlite3_file> {
    (start + Self.systemFileOffset).assumingMemoryBound(to: sqlite3_file.self)
  }

  private var base: UnsafeMutablePointer<sqlite3_file> {
    start.assumingMemoryBound(to: sqlite3_file.self)
  }

  private var reference: Unmanaged<WriteAheadLogBuffer> {
    // Set by `open` before SQLite knows the methods, and read by these alone.
    .fromOpaque(start.load(fromByteOffset: Self.bufferOffset, as: UnsafeRawPointer.self))
  }

  /// Opens the file of the system, and puts the buffer before it.
  func open(_ open: (UnsafeMutablePointer<sqlite3_file>) -> Int32) -> Int32 {
    // Without methods SQLite does not close what was not opened.
    base.pointee.pMethods = nil
    let result = open(systemFile)
    guard result == SQLITE_OK else {
      if let methods = systemFile.pointee.pMethods { _ = methods.pointee.xClose(systemFile) }
      return result
    }
    let buffer = Unmanaged.passRetained(WriteAheadLogBuffer(over: systemFile))
    start.storeBytes(
      of: UnsafeRawPointer(buffer.toOpaque()), toByteOffset: Self.bufferOffset,
      as: UnsafeRawPointer.self)
    base.pointee.pMethods = UnsafePointer(Self.methods)
    return SQLITE_OK
  }

  private func close() -> Int32 {
    let flushed = buffer.flush()
    let closed = systemFile.pointee.pMethods.pointee.xClose(systemFile)
    reference.release()
    return flushed == SQLITE_OK ? closed : flushed
  }

  private var buffer: WriteAheadLogBuffer { reference._withUnsafeGuaranteedRef { $0 } }

  // Written once, before it is read.
  nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    // SQLite calls them with the file that it gave to `open`, so that it is there.
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    methods.xClose = { LogFile(at: $0!).close() }
    methods.xRead = { file, bytes, count, offset in
      LogFile(at: file!).buffer.flushed { $0.xRead($1, bytes, count, offset) }
    }
    methods.xWrite = { file, bytes, count, offset in
      LogFile(at: file!).buffer.write(
        UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
    }
    methods.xTruncate = { file, size in
      LogFile(at: file!).buffer.flushed { $0.xTruncate($1, size) }
    }
    methods.xSync = { file, flags in
      LogFile(at: file!).buffer.flushed { $0.xSync($1, flags) }
    }
    methods.xFileSize = { file, size in
      LogFile(at: file!).buffer.flushed { $0.xFileSize($1, size) }
    }
    methods.xLock = { file, level in
      let system = LogFile(at: file!).systemFile
      return system.pointee.pMethods.pointee.xLock(system, level)
    }
    methods.xUnlock = { file, level in
      let system = LogFile(at: file!).systemFile
      return system.pointee.pMethods.pointee.xUnlock(system, level)
    }
    methods.xCheckReservedLock = { file, isReserved in
      let system = LogFile(at: file!).systemFile
      return system.pointee.pMethods.pointee.xCheckReservedLock(system, isReserved)
    }
    methods.xFileControl = { file, operation, argument in
      LogFile(at: file!).buffer.flushed { $0.xFileControl($1, operation, argument) }
    }
    methods.xSectorSize = { file in
      let system = LogFile(at: file!).systemFile
      return system.pointee.pMethods.pointee.xSectorSize(system)
    }
    methods.xDeviceCharacteristics = { file in
      let system = LogFile(at: file!).systemFile
      return system.pointee.pMethods.pointee.xDeviceCharacteristics(system)
    }
    let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    pointer.initialize(to: methods)
    return pointer
  }()
}
