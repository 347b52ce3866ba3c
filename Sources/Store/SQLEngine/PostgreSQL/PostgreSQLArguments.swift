import CPostgreSQL
import StoreModel

/// The arguments of a statement in libpq's format, in memory that the next statement reuses.
///
/// All are in PostgreSQL's binary format: integers as eight bytes in big-endian order, texts and
/// bytes as they are.
struct PostgreSQLArguments {
  /// PostgreSQL's type IDs (`pg_type.h`).
  enum ObjectID {
    static let boolean: Oid = 16
    static let bytea: Oid = 17
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let byteaArray: Oid = 1001
    static let textArray: Oid = 1009
    static let int8Array: Oid = 1016
    /// PostgreSQL infers the type.
    static let unknown: Oid = 0
  }

  /// PostgreSQL needs the types when the statement is prepared.
  private(set) var types: [Oid] = []
  /// The bytes of all arguments after a first unused byte, which gives the memory an address.
  private var memory: [UInt8] = []
  var byteCount: Int { memory.count }
  /// The ranges of the arguments in the memory; nil stands for null.
  private var ranges: [Range<Int>?] = []
  /// libpq's addresses, lengths and formats (1 is binary); members so that their memory is reused.
  private var pointers: [UnsafePointer<CChar>?] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  /// - Throws: ``StoreError/Code/unkeptText`` for a text with the character U+0000.
  mutating func set(_ arguments: [SQLValue]) throws {
    removeAll()
    for argument in arguments {
      switch argument {
      case .null: appendNull()
      case .integer(let integer): append(integer)
      case .text(let text): try append(text: text.utf8)
      case .bytes(let bytes): append(bytes, ObjectID.bytea)
      }
    }
  }

  mutating func set(_ arguments: borrowing SQLArguments, from first: Int, count: Int) throws {
    removeAll()
    for index in first..<first + count {
      switch arguments.arguments[index] {
      case .null: appendNull()
      case .integer(let integer): append(integer)
      case .text(let range): try append(text: arguments.memory[range])
      case .bytes(let range): append(arguments.memory[range], ObjectID.bytea)
      }
    }
  }

  /// Replaces the arguments by an array for each column of some rows.
  ///
  /// - Throws: ``StoreError/Code/unkeptText`` for a text with the character U+0000.
  mutating func set(
    columnsOf rows: borrowing SQLArguments, _ kinds: [SQLTable.Kind], _ range: Range<Int>
  ) throws {
    removeAll()
    for (column, kind) in kinds.enumerated() {
      let start = memory.count
      let (array, element) = kind.objectIDs
      // The number of dimensions, whether there may be nulls, the type, the size and the first index.
      for number in [1, 1, Int32(bitPattern: element), Int32(range.count), 1] {
        append(raw: number)
      }
      for row in range {
        switch rows.arguments[row * kinds.count + column] {
        case .null:
          append(raw: Int32(-1))
        case .integer(let integer):
          append(raw: Int32(8))
          append(raw: integer)
        case .text(let text):
          try check(rows.memory[text])
          append(raw: Int32(text.count))
          memory.append(contentsOf: rows.memory[text])
        case .bytes(let bytes):
          append(raw: Int32(bytes.count))
          memory.append(contentsOf: rows.memory[bytes])
        }
      }
      ranges.append(start..<memory.count)
      types.append(array)
    }
  }

  private mutating func append(raw number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { memory.append(contentsOf: $0) }
  }

  mutating func withPointers<Result>(
    first count: Int,
    _ body: (
      _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>,
      _ lengths: UnsafePointer<Int32>, _ formats: UnsafePointer<Int32>
    ) -> Result
  ) -> Result {
    pointers.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    while formats.count < count { formats.append(1) }
    return memory.withUnsafeBytes { memory in
      // Null has no pointer, and an empty text must have one.
      let start = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
      for range in ranges.prefix(count) {
        pointers.append(range.flatMap { start?.advanced(by: $0.lowerBound) })
        lengths.append(Int32(range?.count ?? 0))
      }
      return pointers.withUnsafeBufferPointer { values in
        lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer { formats in
            guard let values = values.baseAddress, let lengths = lengths.baseAddress,
              let formats = formats.baseAddress
            else {
              // Empty arrays may have no memory, but libpq does not read them.
              return withUnsafePointer(to: nil as UnsafePointer<CChar>?) { values in
                withUnsafePointer(to: 0 as Int32) { body(0, values, $0, $0) }
              }
            }
            return body(Int32(count), values, lengths, formats)
          }
        }
      }
    }
  }

  private mutating func removeAll() {
    // An empty array may have no memory to point to.
    if memory.isEmpty { memory.append(0) }
    memory.removeSubrange(1...)
    ranges.removeAll(keepingCapacity: true)
    types.removeAll(keepingCapacity: true)
  }

  private mutating func appendNull() {
    ranges.append(nil)
    types.append(ObjectID.unknown)
  }

  private mutating func append(_ integer: Int64) {
    let start = memory.count
    append(raw: integer)
    ranges.append(start..<memory.count)
    types.append(ObjectID.int8)
  }

  /// Refuses the character U+0000. PostgreSQL would refuse it in the middle of a transaction, with
  /// a message for programmers.
  private mutating func append(text: some Collection<UInt8>) throws {
    try check(text)
    append(text, ObjectID.text)
  }

  private func check(_ text: some Collection<UInt8>) throws {
    guard text.contains(0) else { return }
    throw StoreError(
      .unkeptText,
      "the text '\(String(decoding: text.prefix(80), as: UTF8.self).replacing("\0", with: "␀"))' "
        + "has the character U+0000, which PostgreSQL cannot store")
  }

  private mutating func append(_ bytes: some Collection<UInt8>, _ type: Oid) {
    let start = memory.count
    memory.append(contentsOf: bytes)
    ranges.append(start..<memory.count)
    types.append(type)
  }
}

extension SQLTable.Kind {
  fileprivate var objectIDs: (array: Oid, element: Oid) {
    switch self {
    case .integer: (PostgreSQLArguments.ObjectID.int8Array, PostgreSQLArguments.ObjectID.int8)
    case .text: (PostgreSQLArguments.ObjectID.textArray, PostgreSQLArguments.ObjectID.text)
    case .bytes: (PostgreSQLArguments.ObjectID.byteaArray, PostgreSQLArguments.ObjectID.bytea)
    }
  }
}
