/// A stretch of the value index from its first entry to its last.
struct EntrySpan {
  var first: AccessPath.Position
  var last: AccessPath.Position

  /// How much of it lies before an entry, 0 to 1, as if the entries were spread evenly; nil when that
  /// cannot be told.
  func share(before entry: AccessPath.Position) -> Double? {
    if first.key == last.key {
      let width = Double(last.number - first.number)
      return width > 0 ? Double(entry.number - first.number) / width : nil
    }
    // What all keys begin with tells nothing.
    let common = zip(first.key, last.key).prefix { $0 == $1 }.count
    let start = Self.word(of: first.key, from: common)
    // Subtracted while they are whole: neighbours differ in their last bits alone.
    let passed = Self.word(of: entry.key, from: common) &- start
    let width = Self.word(of: last.key, from: common) &- start
    return passed > 0 ? min(1, Double(passed) / Double(width)) : nil
  }

  private static func word(of key: [UInt8], from start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
  }
}
