/// Arguments of a statement that runs for every record, in memory that the next row reuses.
///
/// The engine reads texts and bytes in place, without a copy. Statements that run rarely take
/// ``SQLValue``s, which read better.
package struct SQLArguments {
  package enum Argument {
    case null
    case integer(Int64)
    case text(Range<Int>)
    case bytes(Range<Int>)
  }

  @usableFromInline package internal(set) var arguments: [Argument] = []
  /// The memory of the texts and bytes.
  @usableFromInline package internal(set) var memory: [UInt8] = []

  @inlinable package init() {}

  @inlinable package var count: Int { arguments.count }

  /// Starts the next row.
  @inlinable package mutating func removeAll() {
    arguments.removeAll(keepingCapacity: true)
    memory.removeAll(keepingCapacity: true)
  }

  /// Drops the first arguments; a statement takes its arguments from the front.
  @inlinable package mutating func removeFirst(_ count: Int) {
    arguments.removeFirst(count)
  }

  @inlinable package mutating func append(_ integer: Int64) {
    arguments.append(.integer(integer))
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

  /// Appends a text.
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
