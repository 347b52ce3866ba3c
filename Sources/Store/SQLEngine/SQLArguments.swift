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

  /// - Parameter bytes: the text's UTF-8.
  @inlinable package mutating func append(text bytes: some Collection<UInt8>) {
    let start = memory.count
    memory.append(contentsOf: bytes)
    arguments.append(.text(start..<memory.count))
  }

  @inlinable package mutating func append(bytes: some Collection<UInt8>) {
    let start = memory.count
    memory.append(contentsOf: bytes)
    arguments.append(.bytes(start..<memory.count))
  }
}
