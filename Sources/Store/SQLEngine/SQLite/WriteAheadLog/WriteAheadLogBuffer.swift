import CSQLite
import Foundation

/// A buffer that collects SQLite's appends to a write-ahead log, so that they reach the file in few
/// large writes.
///
/// SQLite writes each page's header and content with separate system calls, thousands for a commit
/// of many records. The bytes are not needed in the file before the commit is synced. Other
/// connections read a page of the log only after the commit. With `synchronous=FULL`, the commit is
/// visible only after the sync. Before this connection reads from the log, it writes its own
/// buffer. So all collected bytes are written before a sync, a read, a truncation, a query of the
/// size and the close, in the order of the appends.
///
/// The call that causes a write reports its failure, the sync of the commit at the latest. The
/// buffer then discards its bytes, and SQLite rolls the commit back.
///
/// The buffer belongs to one connection. Like the connection, it is used by one thread at a time.
final class WriteAheadLogBuffer {
  /// Almost 32 pages. SQLite's file system uses only the lower 17 bits of the number of bytes.
  static let capacity = 0x1FFFF

  private let file: UnsafeMutablePointer<sqlite3_file>
  /// Allocated at the first write, so that connections that only read need none.
  private var memory: UnsafeMutableRawBufferPointer?
  private var count = 0
  /// The offset in the file of the first collected byte.
  private var start: sqlite3_int64 = 0

  /// The buffer does not close the file.
  init(over file: UnsafeMutablePointer<sqlite3_file>) {
    self.file = file
  }

  deinit { memory?.deallocate() }

  /// Flushes first if the bytes do not continue the collected ones. Returns SQLite's result code.
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

  func flush() -> Int32 {
    guard count > 0, let memory else { return SQLITE_OK }
    let (place, length) = (start, count)
    start += Int64(length)
    count = 0
    return methods.xWrite(file, memory.baseAddress, Int32(length), place)
  }

  func flushed(
    _ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 {
    let result = flush()
    guard result == SQLITE_OK else { return result }
    return unflushed(body)
  }

  func unflushed(
    _ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 { body(methods, file) }

  private var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }
}
