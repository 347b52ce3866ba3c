import CSQLite

/// The write-ahead log of one connection: pages get their ``PageSeal`` on the way into it, and have to
/// show it when they are read, where those of the database have one.
///
/// SQLite itself looks at the checksums of a log only when it reads it anew after a crash.
final class SealedLog {
  /// Bytes at the log's beginning, and before each page in it
  /// (https://sqlite.org/fileformat2.html#the_write_ahead_log).
  static let headerBytes = 32
  static let frameHeaderBytes = 24
  static let frameBytes = frameHeaderBytes + PageCache.pageSize

  let buffer: WriteAheadLogBuffer
  private let database: DatabaseFile?
  /// Room for a page with what stands before it.
  private let scratch: UnsafeMutableRawPointer
  /// The last page that was announced, and where what announced it ended.
  private var announced = (page: UInt32(0), end: sqlite3_int64(-1))

  /// - Parameters:
  ///   - file: the open file; it is not closed with the log.
  ///   - database: the log's; it is open for longer.
  init(over file: UnsafeMutablePointer<sqlite3_file>, of database: DatabaseFile?) {
    buffer = WriteAheadLogBuffer(over: file)
    self.database = database
    scratch = .allocate(byteCount: Self.frameBytes + 8, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// Behind the eight bytes that make up for what stands before it, a page lies where words may.
  private var frame: UnsafeMutableRawPointer { scratch + 8 }
  private var page: UnsafeMutableRawPointer { frame + Self.frameHeaderBytes }

  private static func isPage(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == PageCache.pageSize
      && (Int(offset) - headerBytes) % frameBytes == frameHeaderBytes
  }

  private static func isFrame(_ count: Int, at offset: sqlite3_int64) -> Bool {
    count == frameBytes && (Int(offset) - headerBytes) % frameBytes == 0
  }

  /// Has SQLite, which reads whole frames when it looks how far a log goes, take it to end before one that
  /// was being written when the power went. Its own checksum is the same with any seal: so of a page whose
  /// last sector is still that of another version it may find nothing wrong.
  private func endLog(atTornFrame frame: UnsafeMutableRawPointer) {
    page.copyMemory(from: frame + Self.frameHeaderBytes, byteCount: PageCache.pageSize)
    guard !PageSeal.isIntact(page, number: Self.pageNumber(in: frame)) else { return }
    frame.initializeMemory(as: UInt8.self, repeating: 0, count: Self.frameHeaderBytes)
  }

  private static func pageNumber(in frame: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self))
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: sqlite3_int64) -> Int32 {
    guard let database, database.isSealed else { return buffer.write(bytes, at: offset) }
    if bytes.count == Self.frameHeaderBytes, let start = bytes.baseAddress {
      announced = (Self.pageNumber(in: start), offset + sqlite3_int64(bytes.count))
    }
    guard Self.isPage(bytes.count, at: offset), let start = bytes.baseAddress else {
      return buffer.write(bytes, at: offset)
    }
    if announced.end != offset {
      // It takes the place of another version of itself.
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
