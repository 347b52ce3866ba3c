import CSQLite

/// The write-ahead log of one connection. If the database's pages have a ``PageSeal``, each page
/// gets one when it is written to the log, and the seal is checked when the page is read.
///
/// SQLite itself checks the checksums of a log only when it recovers after a crash.
final class SealedLog {
  /// Bytes at the log's beginning, and before each page in it
  /// (https://sqlite.org/fileformat2.html#the_write_ahead_log).
  static let headerBytes = 32
  /// The bytes before each page in the log.
  static let frameHeaderBytes = 24
  /// The bytes of a frame: its header and its page.
  static let frameBytes = frameHeaderBytes + PageCache.pageSize

  /// The buffer before the file.
  let buffer: WriteAheadLogBuffer
  /// The log's database; nil if SQLite did not say, and then nothing is sealed.
  private let database: DatabaseFile?
  /// Memory for a page with its frame header.
  private let scratch: UnsafeMutableRawPointer
  /// The page of the last frame header that was written, and the offset after it.
  private var announced = (page: UInt32(0), end: sqlite3_int64(-1))

  /// - Parameters:
  ///   - file: the open file; it is not closed with the log.
  ///   - database: the log's database; it stays open longer.
  init(over file: UnsafeMutablePointer<sqlite3_file>, of database: DatabaseFile?) {
    buffer = WriteAheadLogBuffer(over: file)
    self.database = database
    scratch = .allocate(byteCount: Self.frameBytes + 8, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// The frame starts eight bytes into the memory, so that the page after its header is aligned to
  /// words.
  private var frame: UnsafeMutableRawPointer { scratch + 8 }
  /// The page in the frame.
  private var page: UnsafeMutableRawPointer { frame + Self.frameHeaderBytes }

  /// Whether SQLite reads or writes the page of a frame.
  private static func isPage(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == PageCache.pageSize
      && (Int(offset) - headerBytes) % frameBytes == frameHeaderBytes
  }

  /// Whether SQLite reads a frame with its header, as it does in recovery.
  private static func isFrame(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == frameBytes && (Int(offset) - headerBytes) % frameBytes == 0
  }

  /// Makes SQLite end the log before a torn frame, by clearing its header; SQLite reads whole
  /// frames only in recovery. The seal does not change SQLite's own checksum. So SQLite's checksum
  /// may not detect a page whose last sector is still that of another version.
  private func endLog(atTornFrame frame: UnsafeMutableRawPointer) {
    page.copyMemory(from: frame + Self.frameHeaderBytes, byteCount: PageCache.pageSize)
    guard !PageSeal.isIntact(page, number: Self.pageNumber(in: frame)) else { return }
    frame.initializeMemory(as: UInt8.self, repeating: 0, count: Self.frameHeaderBytes)
  }

  /// Returns the page number in a frame's header.
  private static func pageNumber(in frame: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self))
  }

  /// Writes bytes of SQLite's. A page is sealed on the way, in memory of its own, so that SQLite's
  /// cached page stays as it is.
  ///
  /// - Returns: SQLite's result code.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: sqlite3_int64) -> Int32 {
    guard let database, database.isSealed else { return buffer.write(bytes, at: offset) }
    if bytes.count == Self.frameHeaderBytes, let start = bytes.baseAddress {
      announced = (Self.pageNumber(in: start), offset + sqlite3_int64(bytes.count))
    }
    guard Self.isPage(bytes.count, at: offset), let start = bytes.baseAddress else {
      return buffer.write(bytes, at: offset)
    }
    if announced.end != offset {
      // The write replaces an earlier version of the page in its frame.
      let result = buffer.flushed { [scratch] in
        SQLiteResult.ofRead(
          $0.xRead(
            $1, scratch, Int32(Self.frameHeaderBytes),
            offset - sqlite3_int64(Self.frameHeaderBytes)))
      }
      guard result == SQLITE_OK else { return result }
      announced = (Self.pageNumber(in: scratch), offset)
    }
    page.copyMemory(from: start, byteCount: bytes.count)
    PageSeal.put(on: page, number: announced.page)
    return buffer.write(UnsafeRawBufferPointer(start: page, count: bytes.count), at: offset)
  }

  /// Reads bytes for SQLite. A page is read with its frame header, which has its number, and
  /// checked.
  ///
  /// - Returns: SQLite's result code; ``SQLiteResult/wrongData`` for a damaged page.
  func read(
    _ bytes: UnsafeMutableRawPointer, _ count: Int32, at offset: sqlite3_int64
  ) -> Int32 {
    guard let database, database.isSealed, Self.isPage(Int(count), at: offset) else {
      let result = buffer.flushed { SQLiteResult.ofRead($0.xRead($1, bytes, count, offset)) }
      if result == SQLITE_OK, database?.isSealed ?? false, Self.isFrame(Int(count), at: offset) {
        endLog(atTornFrame: bytes)
      }
      return result
    }
    let result = buffer.flushed { [frame] in
      SQLiteResult.ofRead(
        $0.xRead(
          $1, frame, Int32(Self.frameBytes), offset - sqlite3_int64(Self.frameHeaderBytes)))
    }
    let number = Self.pageNumber(in: frame)
    if result == SQLiteResult.shortRead {
      return database.refuse(number, isInLog: true, .missing)
    }
    guard result == SQLITE_OK else { return result }
    guard PageSeal.isIntact(page, number: number) else {
      return database.refuse(number, isInLog: true)
    }
    bytes.copyMemory(from: page, byteCount: Int(count))
    return SQLITE_OK
  }
}
