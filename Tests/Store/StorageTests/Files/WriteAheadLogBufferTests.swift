import CSQLite
import Foundation
import PropertyTesting
import Testing

@testable import SQLEngine
@testable import Storage

struct WriteAheadLogBufferTests {
  /// A file in memory that can refuse writes.
  private final class MemoryFile {
    var bytes: [UInt8] = []
    var writes = 0
    var longest = 0
    var isFull = false
    let pointer: UnsafeMutablePointer<sqlite3_file>
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>

    init() {
      methods = .allocate(capacity: 1)
      methods.initialize(to: sqlite3_io_methods())
      // Behind the first, which SQLite knows, the second has the way back to this object.
      pointer = .allocate(capacity: 2)
      pointer.initialize(repeating: sqlite3_file(), count: 2)
      pointer.pointee.pMethods = UnsafePointer(methods)
      UnsafeMutableRawPointer(pointer + 1).storeBytes(
        of: Unmanaged.passUnretained(self).toOpaque(), as: UnsafeMutableRawPointer.self)
      methods.pointee.xWrite = { file, bytes, count, offset in
        MemoryFile.of(file!).write(bytes!, Int(count), at: Int(offset))
      }
    }

    deinit {
      pointer.deallocate()
      methods.deallocate()
    }

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> MemoryFile {
      Unmanaged.fromOpaque(
        UnsafeRawPointer(file + 1).load(as: UnsafeRawPointer.self)
      ).takeUnretainedValue()
    }

    private func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int) -> Int32 {
      writes += 1
      longest = max(longest, count)
      if isFull { return SQLITE_FULL }
      bytes += [UInt8](repeating: 0, count: max(0, offset + count - bytes.count))
      bytes.replaceSubrange(
        offset..<offset + count, with: UnsafeRawBufferPointer(start: source, count: count))
      return SQLITE_OK
    }
  }

  private func write(
    _ bytes: [UInt8], at offset: Int, through buffer: WriteAheadLogBuffer
  ) -> Int32 {
    bytes.withUnsafeBytes { buffer.write($0, at: sqlite3_int64(offset)) }
  }

  @Test(
    "After a flush the file is as if each write had gone to it at once", arguments: Seeds.some(40))
  func sameFile(seed: Int) {
    var random = SeededGenerator(seed: seed)
    let file = MemoryFile()
    let buffer = WriteAheadLogBuffer(over: file.pointer)
    var expected: [UInt8] = []
    var end = 0
    for _ in 0..<300 {
      // Mostly appended, sometimes over what is there, and now and then more than is gathered.
      let offset = random.chance(9, in: 10) ? end : Int.random(in: 0...end, using: &random)
      let length =
        random.chance(1, in: 100)
        ? WriteAheadLogBuffer.capacity + Int.random(in: -1...1, using: &random)
        : random.pick([1, 24, 4096, 50_000])
      let bytes = [UInt8](repeating: .random(in: 1...255, using: &random), count: length)
      #expect(write(bytes, at: offset, through: buffer) == SQLITE_OK)
      expected += [UInt8](repeating: 0, count: max(0, offset + length - expected.count))
      expected.replaceSubrange(offset..<offset + length, with: bytes)
      end = offset + length
      if random.chance(1, in: 20) {
        var seen = 0
        _ = buffer.flushed { _, _ in
          seen = file.bytes.count
          return SQLITE_OK
        }
        #expect(seen == expected.count && file.bytes == expected, "seed \(seed)")
      }
    }
    #expect(buffer.flush() == SQLITE_OK)
    #expect(file.bytes == expected, "seed \(seed)")
  }

  @Test("Pages in a row share writes, none of them larger than the file system takes")
  func fewWrites() {
    let file = MemoryFile()
    let buffer = WriteAheadLogBuffer(over: file.pointer)
    for page in 0..<200 {
      _ = write([UInt8](repeating: 1, count: 24), at: page * 4120, through: buffer)
      _ = write([UInt8](repeating: 2, count: 4096), at: page * 4120 + 24, through: buffer)
    }
    #expect(buffer.flush() == SQLITE_OK)
    #expect(file.writes == 7)
    #expect(file.longest < 1 << 17)
    #expect(file.bytes.count == 200 * 4120)
    #expect(buffer.flush() == SQLITE_OK)
    #expect(file.writes == 7)
  }

  @Test("A write that fails is told of before the sync, and is not made later")
  func failure() {
    let file = MemoryFile()
    let buffer = WriteAheadLogBuffer(over: file.pointer)
    #expect(write([1, 2, 3], at: 0, through: buffer) == SQLITE_OK)
    file.isFull = true
    var didSync = false
    let result = buffer.flushed { _, _ in
      didSync = true
      return SQLITE_OK
    }
    #expect(result == SQLITE_FULL)
    #expect(!didSync)
    file.isFull = false
    #expect(buffer.flush() == SQLITE_OK)
    #expect(file.bytes.isEmpty)
    #expect(write([9], at: 0, through: buffer) == SQLITE_OK)
    #expect(buffer.flush() == SQLITE_OK)
    #expect(file.bytes == [9])
  }

  @Test("What is committed is in the log, and another connection of SQLite's own reads it")
  func committed() throws {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("log-\(UUID().uuidString).db").path
    defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
    let connection = try SQLiteConnection(path: path)
    try connection.execute("CREATE TABLE pages (number INTEGER PRIMARY KEY, content BLOB)")
    var plain: OpaquePointer?
    #expect(sqlite3_open_v2(path, &plain, SQLITE_OPEN_READWRITE, "unix") == SQLITE_OK)
    defer { sqlite3_close(plain) }
    for round in 1...20 {
      try connection.beginWriting()
      for number in 0..<50 {
        try connection.run(
          "INSERT OR REPLACE INTO pages VALUES ($1, randomblob($2))",
          [.integer(Int64(round * 37 + number)), .integer(Int64(round * 300))])
      }
      if round % 5 == 0 { try connection.rollback() } else { try connection.commit() }
      let sum = "SELECT count(*), coalesce(sum(length(content)), 0) FROM pages"
      let own = try connection.rows(Statement(sum), []) { [$0.integer(0), $0.integer(1)] }
      var statement: OpaquePointer?
      sqlite3_prepare_v2(plain, sum, -1, &statement, nil)
      #expect(sqlite3_step(statement) == SQLITE_ROW)
      #expect(
        own == [[sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1)]])
      sqlite3_finalize(statement)
    }
    // What stands in the log alone is what a crash leaves: a copy of the files must have it all.
    let copy = path + ".copy"
    defer { for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) } }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    let count: Statement = "SELECT count(*) FROM pages"
    let recovered = try SQLiteConnection(path: copy)
    #expect(
      try recovered.rows(count, []) { $0.integer(0) }
        == connection.rows(count, []) { $0.integer(0) })
    recovered.close()
    connection.close()
  }
}
