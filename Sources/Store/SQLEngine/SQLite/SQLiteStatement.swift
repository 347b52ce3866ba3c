import CSQLite

/// A prepared statement of SQLite with its current row. The connection that prepared the statement
/// also finalizes it.
final class SQLiteStatement: SQLRow {
  let pointer: OpaquePointer
  /// The index of each parameter's argument, counted from 0. SQLite numbers parameters in the
  /// order of their first use in the text.
  private let argumentIndexes: [Int]
  var effects: StatementEffects?

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    argumentIndexes = (0..<sqlite3_bind_parameter_count(pointer)).map { parameter in
      let name = sqlite3_bind_parameter_name(pointer, parameter + 1).map { String(cString: $0) }
      return (name.flatMap { Int($0.dropFirst()) } ?? Int(parameter) + 1) - 1
    }
  }

  /// Copies the arguments. Returns false if SQLite refuses one, or if one is missing.
  func bind(_ arguments: [SQLValue]) -> Bool {
    // SQLite's constant for "copy the bytes now" is a function pointer of value -1.
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (parameter, argumentIndex) in argumentIndexes.enumerated() {
      guard arguments.indices.contains(argumentIndex) else { return false }
      let position = Int32(parameter) + 1
      let result =
        switch arguments[argumentIndex] {
        case .null:
          sqlite3_bind_null(pointer, position)
        case .integer(let integer):
          sqlite3_bind_int64(pointer, position, integer)
        case .text(let text):
          sqlite3_bind_text(pointer, position, text, Int32(text.utf8.count), copied)
        case .bytes(let bytes) where bytes.isEmpty:
          sqlite3_bind_zeroblob(pointer, position, 0)
        case .bytes(let bytes):
          sqlite3_bind_blob(pointer, position, bytes, Int32(bytes.count), copied)
        }
      guard result == SQLITE_OK else { return false }
    }
    return true
  }

  /// Does not copy texts and bytes, so they must stay valid. `first` is the index of `$1`.
  func bind(
    _ arguments: borrowing SQLArguments, from first: Int, in memory: UnsafeRawBufferPointer
  ) -> Bool {
    for (parameter, index) in argumentIndexes.enumerated() {
      let argumentIndex = first + index
      guard argumentIndex < arguments.count else { return false }
      let position = Int32(parameter) + 1
      let result =
        switch arguments.arguments[argumentIndex] {
        case .null:
          sqlite3_bind_null(pointer, position)
        case .integer(let integer):
          sqlite3_bind_int64(pointer, position, integer)
        // SQLite would read a null pointer as a null value.
        case .text(let range) where range.isEmpty:
          sqlite3_bind_text(pointer, position, "", 0, nil)
        case .bytes(let range) where range.isEmpty:
          sqlite3_bind_zeroblob(pointer, position, 0)
        case .text(let range):
          sqlite3_bind_text(
            pointer, position,
            UnsafeRawBufferPointer(rebasing: memory[range]).baseAddress?
              .assumingMemoryBound(to: CChar.self), Int32(range.count), nil)
        case .bytes(let range):
          sqlite3_bind_blob(
            pointer, position, UnsafeRawBufferPointer(rebasing: memory[range]).baseAddress,
            Int32(range.count), nil)
        }
      guard result == SQLITE_OK else { return false }
    }
    return true
  }

  /// The statement then holds no lock.
  func reset() {
    sqlite3_reset(pointer)
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(pointer, column) else { return "" }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  func bytes(_ column: Int32) -> [UInt8] { [UInt8](buffer(column)) }

  func buffer(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_blob(pointer, column) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }
}

/// The extended result codes of SQLite (https://sqlite.org/rescode.html), which Swift does not
/// import. The first byte is the kind of error, and the second byte gives details.
enum SQLiteResult {
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// The bytes do not match their checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
  private static let failedRead = SQLITE_IOERR | 1 << 8
  /// The file system reported damage of its own.
  private static let failedReadOfFileSystem = SQLITE_IOERR | 33 << 8

  /// Turns damage that the file system reported into a failed read. SQLite would treat the
  /// database as damaged, although the disk may recover.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
