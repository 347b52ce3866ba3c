/// The arguments of a statement that runs for many rows (``RowStatement``), one row after the other.
///
/// The engine reads texts and bytes from this memory, without another copy. Statements that run
/// rarely take arrays of ``SQLValue``, which are easier to read.
package struct SQLArguments {
  /// An argument: an integer itself, or the range of a text or of bytes in the memory.
  package enum Argument {
    case null
    case integer(Int64)
    case text(Range<Int>)
    case bytes(Range<Int>)
  }

  /// The arguments in the order of their numbers.
  @usableFromInline package internal(set) var arguments: [Argument] = []
  /// The memory of the texts and bytes.
  @usableFromInline package internal(set) var memory: [UInt8] = []

  /// Creates an empty list of arguments.
  @inlinable package init() {}

  /// The number of arguments.
  @inlinable package var count: Int { arguments.count }

  /// Removes the arguments after the first `count`, whose texts and bytes end at `memoryCount`.
  package mutating func removeLast(toCount count: Int, memoryCount: Int) {
    arguments.removeSubrange(count...)
    memory.removeSubrange(memoryCount...)
  }

  /// Removes all arguments and keeps the memory, to start the next row.
  @inlinable package mutating func removeAll() {
    arguments.removeAll(keepingCapacity: true)
    memory.removeAll(keepingCapacity: true)
  }

  /// Appends an integer.
  @inlinable package mutating func append(_ integer: Int64) {
    arguments.append(.integer(integer))
  }

  /// Appends two integers.
  @inlinable package mutating func append(_ first: Int64, _ second: Int64) {
    append(first)
    append(second)
  }

  /// Appends an integer, or null for nil.
  @inlinable package mutating func append(_ integer: Int64?) {
    arguments.append(integer.map { .integer($0) } ?? .null)
  }

  /// Appends a text, or null for nil.
  @inlinable package mutating func append(_ text: String?) {
    if let text { append(text) } else { arguments.append(.null) }
  }

  /// Appends a text. Its UTF-8 is copied into the memory.
  @inlinable package mutating func append(_ text: String) {
    let start = memory.count
    memory.append(contentsOf: text.utf8)
    arguments.append(.text(start..<memory.count))
  }

  /// Appends SQL's null.
  @inlinable package mutating func appendNull() {
    arguments.append(.null)
  }

  /// Appends a text without making a `String` of it.
  ///
  /// - Parameter bytes: the text's UTF-8.
  package mutating func append(text bytes: RawSpan) {
    arguments.append(.text(store(bytes)))
  }

  /// Appends bytes.
  package mutating func append(bytes: RawSpan) {
    arguments.append(.bytes(store(bytes)))
  }

  // A generic parameter would be slower: callers in other modules get the unspecialized function, which copies byte by
  // byte through witness tables. That cost a tenth of saving records with indexed words.
  private mutating func store(_ bytes: RawSpan) -> Range<Int> {
    let start = memory.count
    bytes.withUnsafeBytes { memory.append(contentsOf: $0) }
    return start..<memory.count
  }
}
