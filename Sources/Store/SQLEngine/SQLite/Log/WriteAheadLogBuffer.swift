import CSQLite
import Foundation

/// Gathers what SQLite appends to a write-ahead log, so that it reaches the file in few large writes.
///
/// SQLite writes the head of each page and its content by system calls of their own, thousands for a
/// commit of many records. Nobody needs them in the file before the commit is synced: other
/// connections look at a page of the log after the commit alone, which with `synchronous=FULL` comes
/// after the sync, and this one asks its own buffer first. So everything is written before a sync, a
/// read, a truncation, a look at the size and the end; in the order in which it came.
///
/// A write that fails is told of by the call that makes it happen, the sync of the commit at the
/// latest, and what it held is dropped, as SQLite then takes the commit back.
///
/// It belongs to one connection, and like that is used by one thread at a time.
final class WriteAheadLogBuffer {
  /// Bytes that are kept at most, some 31 pages: SQLite's file system writes no more at a time, and
  /// takes of a larger number the lower 17 bits.
  static let capacity = 0x1FFFF

  private let file: UnsafeMutablePointer<sqlite3_file>
  /// Made by the first write: connections that read have none.
  private var memory: UnsafeMutableRawBufferPointer?
  private var count = 0
  /// Where in the file the first byte belongs.
  private var start: sqlite3_int64 = 0

  /// - Parameter file: the open file; it is not closed with the buffer.
  init(over file: UnsafeMutablePointer<sqlite3_file>) {
    self.file = file
  }

  deinit { memory?.deallocate() }

  /// Takes bytes for a place in the file; returns a result code of SQLite, as all of these do.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: sqlite3_int64) -> Int32 {
    if offset != start + Int64(count) {
      let result = flush()
      guard result == SQLITE_OK else { return result }
      start = offset
    }
    let memory = memory ?? .allocate(byteCount: Self.capacity, alignment: 4096)
    self.memory = memory
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Self.capacity - count)
      UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: piece))
      count += piece.count
      rest = rest[piece.endIndex...]
      if count == Self.capacity {
        let result = flush()
        guard result == SQLITE_OK else { return result }
      }
    }
    return SQLITE_OK
  }

  /// Writes to the file what was gathered.
  func flush() -> Int32 {
    guard count > 0, let memory else { return SQLITE_OK }
    let (place, length) = (start, count)
    start += Int64(length)
    count = 0
    return methods.xWrite(file, memory.baseAddress, Int32(length), place)
  }

  /// Does something with the file after all of it was written.
  func flushed(
    _ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 {
    let result = flush()
    guard result == SQLITE_OK else { return result }
    return body(methods, file)
  }

  private var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }
}
