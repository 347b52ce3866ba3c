import CSQLite

/// The memory that SQLite allocates for an open write-ahead log. It has three parts: the methods,
/// where SQLite looks for them; the pointer to the ``SealedLog``; the system's file.
///
/// The value is only a pointer to this memory.
struct LogFile {
  private let start: UnsafeMutableRawPointer

  private static let logOffset = MemoryLayout<sqlite3_file>.stride
  /// Aligned for any content of the system's file.
  static let systemFileOffset = 32

  init(at file: UnsafeMutablePointer<sqlite3_file>) {
    start = UnsafeMutableRawPointer(file)
  }

  private var systemFile: UnsafeMutablePointer<sqlite3_file> {
    (start + Self.systemFileOffset).assumingMemoryBound(to: sqlite3_file.self)
  }

  private var base: UnsafeMutablePointer<sqlite3_file> {
    start.assumingMemoryBound(to: sqlite3_file.self)
  }

  private var reference: Unmanaged<SealedLog> {
    // `open` sets the pointer before SQLite knows the methods; only the methods read it.
    .fromOpaque(start.load(fromByteOffset: Self.logOffset, as: UnsafeRawPointer.self))
  }

  /// Opens the system's file by `open`, with methods that pass SQLite's calls to a new
  /// ``SealedLog``. After an error, the system's file is closed again.
  func open(
    of database: DatabaseFile?, _ open: (UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 {
    // Without methods, SQLite does not close a file that was not opened.
    base.pointee.pMethods = nil
    let result = open(systemFile)
    guard result == SQLITE_OK else {
      if let methods = systemFile.pointee.pMethods { _ = methods.pointee.xClose(systemFile) }
      return result
    }
    // A killed process may have left a commit without a sync. Connections that open the log read
    // this commit, so it must be on the disk before other commits follow it.
    let synced = systemFile.pointee.pMethods.pointee.xSync(systemFile, SQLITE_SYNC_FULL)
    guard synced == SQLITE_OK else {
      _ = systemFile.pointee.pMethods.pointee.xClose(systemFile)
      return synced
    }
    let log = Unmanaged.passRetained(SealedLog(over: systemFile, of: database))
    start.storeBytes(
      of: UnsafeRawPointer(log.toOpaque()), toByteOffset: Self.logOffset,
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

  /// Does not change the reference count.
  private var log: SealedLog { reference._withUnsafeGuaranteedRef { $0 } }
  private var buffer: WriteAheadLogBuffer { log.buffer }

  // Written once, before it is read.
  nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    // SQLite calls these methods with the file that it passed to `open`, so the pointer is not
    // null.
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    methods.xClose = { LogFile(at: $0!).close() }
    methods.xRead = { file, bytes, count, offset in
      LogFile(at: file!).log.read(bytes!, count, at: offset)
    }
    methods.xWrite = { file, bytes, count, offset in
      LogFile(at: file!).log.write(
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
      LogFile(at: file!).buffer.unflushed { $0.xLock($1, level) }
    }
    methods.xUnlock = { file, level in
      LogFile(at: file!).buffer.unflushed { $0.xUnlock($1, level) }
    }
    methods.xCheckReservedLock = { file, isReserved in
      LogFile(at: file!).buffer.unflushed { $0.xCheckReservedLock($1, isReserved) }
    }
    methods.xFileControl = { file, operation, argument in
      LogFile(at: file!).buffer.flushed { $0.xFileControl($1, operation, argument) }
    }
    methods.xSectorSize = { file in
      LogFile(at: file!).buffer.unflushed { $0.xSectorSize($1) }
    }
    methods.xDeviceCharacteristics = { file in
      LogFile(at: file!).buffer.unflushed { $0.xDeviceCharacteristics($1) }
    }
    let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    pointer.initialize(to: methods)
    return pointer
  }()
}
