/// Arguments of a statement that runs for every record, in memory that the next row uses again.
///
/// The engine reads texts and bytes where they lie here; nothing is copied for it. Statements that run
/// now and then take ``SQLValue``s, which read better.
struct SQLArguments {
  enum Argument {
    case null
    case integer(Int64)
    case text(Range<Int>)
    case bytes(Range<Int>)
  }

  private(set) var arguments: [Argument] = []
  /// What the ranges of texts and bytes lie in.
  private(set) var memory: [UInt8] = []

  var count: Int { arguments.count }

  /// Starts the next row.
  mutating func removeAll() {
    arguments.removeAll(keepingCapacity: true)
    memory.removeAll(keepingCapacity: true)
  }

  /// Drops the first arguments; a statement takes those that come first.
  mutating func removeFirst(_ count: Int) {
    arguments.removeFirst(count)
  }

  mutating func append(_ integer: Int64) {
    arguments.append(.integer(integer))
  }

  mutating func append(_ integer: Int64?) {
    arguments.append(integer.map { .integer($0) } ?? .null)
  }

  mutating func append(_ text: String?) {
    if let text { append(text) } else { arguments.append(.null) }
  }

  mutating func append(_ text: String) {
    let start = memory.count
    memory.append(contentsOf: text.utf8)
    arguments.append(.text(start..<memory.count))
  }

  mutating func appendNull() {
    arguments.append(.null)
  }

  /// - Parameter bytes: the text's UTF-8.
  mutating func append(text bytes: some Collection<UInt8>) {
    let start = memory.count
    memory.append(contentsOf: bytes)
    arguments.append(.text(start..<memory.count))
  }

  mutating func append(bytes: some Collection<UInt8>) {
    let start = memory.count
    memory.append(contentsOf: bytes)
    arguments.append(.bytes(start..<memory.count))
  }
}
