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

  @usableFromInline package internal(set) var arguments: [Argument] = []
  @usableFromInline package internal(set) var memory: [UInt8] = []

  @inlinable package init() {}

  @inlinable package var count: Int { arguments.count }

  /// Keeps the first `count` arguments, whose texts and bytes end at `memoryCount`.
  package mutating func removeLast(toCount count: Int, memoryCount: Int) {
    arguments.removeSubrange(count...)
    memory.removeSubrange(memoryCount...)
  }

  @inlinable package mutating func removeAll() {
    arguments.removeAll(keepingCapacity: true)
    memory.removeAll(keepingCapacity: true)
  }

  @inlinable package mutating func append(_ integer: Int64) {
    arguments.append(.integer(integer))
  }

  @inlinable package mutating func append(_ first: Int64, _ second: Int64) {
    append(first)
    append(second)
  }

  @inlinable package mutating func append(_ integer: Int64?) {
    arguments.append(integer.map { .integer($0) } ?? .null)
  }

  @inlinable package mutating func append(_ text: String?) {
    if let text { append(text) } else { arguments.append(.null) }
  }

  @inlinable package mutating func append(_ text: String) {
    let start = memory.count
    memory.append(contentsOf: text.utf8)
    arguments.append(.text(start..<memory.count))
  }

  @inlinable package mutating func appendNull() {
    arguments.append(.null)
  }

  /// Appends a text by its UTF-8, without making a `String`.
  package mutating func append(text bytes: RawSpan) {
    arguments.append(.text(store(bytes)))
  }

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
