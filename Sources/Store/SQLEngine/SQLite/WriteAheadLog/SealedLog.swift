import CSQLite

/// The write-ahead log of one connection. If the database's pages have a ``PageSeal`` (a checksum
/// at the end of each page), this type adds the seal when SQLite writes a page to the log. It
/// checks the seal when SQLite reads the page.
///
/// The log is a header and a sequence of frames; a frame is a header and a page. SQLite itself
/// checks the checksums in the headers only when it recovers after a crash.
final class SealedLog {
  static let headerBytes = 32
  static let frameHeaderBytes = 24
  static let frameBytes = frameHeaderBytes + PageCache.pageSize

  let buffer: WriteAheadLogBuffer
  /// The log's database; nil if SQLite does not know it, and then nothing is sealed.
  private let database: DatabaseFile?
  private let scratch: UnsafeMutableRawPointer
  /// The page number in the last written frame header, and the offset after it.
  private var announced = (page: UInt32(0), end: sqlite3_int64(-1))

  /// The log does not close `file`. `database` stays open longer than the log.
  init(over file: UnsafeMutablePointer<sqlite3_file>, of database: DatabaseFile?) {
    buffer = WriteAheadLogBuffer(over: file)
    self.database = database
    scratch = .allocate(byteCount: Self.frameBytes + 8, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// Eight bytes into the memory, so that the page after its header is aligned to words.
  private var frame: UnsafeMutableRawPointer { scratch + 8 }
  private var page: UnsafeMutableRawPointer { frame + Self.frameHeaderBytes }

  private static func isPage(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == PageCache.pageSize
      && (Int(offset) - headerBytes) % frameBytes == frameHeaderBytes
  }

  /// Exactly a frame with its header, as SQLite reads it in recovery.
  private static func isFrame(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == frameBytes && (Int(offset) - headerBytes) % frameBytes == 0
  }

  /// Clears the header of a frame whose page does not match its seal, so that SQLite ends the log
  /// before that frame. SQLite reads whole frames only in recovery.
  ///
  /// Such a page was written only in part, for example when the power failed. A seal leaves
  /// SQLite's own checksum of the frame unchanged (``PageSeal``). So SQLite's checksum may not
  /// detect a page whose last sector is still that of an older version.
  private func endLog(atTornFrame frame: UnsafeMutableRawPointer) {
    page.copyMemory(from: frame + Self.frameHeaderBytes, byteCount: PageCache.pageSize)
    guard !PageSeal.isIntact(page, number: Self.pageNumber(in: frame)) else { return }
    frame.initializeMemory(as: UInt8.self, repeating: 0, count: Self.frameHeaderBytes)
  }

  private static func pageNumber(in frame: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self))
  }

  /// A page gets its seal in a copy, so that SQLite's cached page stays unchanged.
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

  /// Reads a page together with its frame header, which has the page's number, and checks its
  /// seal. Returns ``SQLiteResult/wrongData`` for a damaged or missing page.
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
