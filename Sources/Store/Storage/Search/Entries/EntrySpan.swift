/// The first and the last entry of a range of the value index, to estimate how far a reader has
/// come.
struct EntrySpan {
  /// The first entry.
  var first: AccessPath.Position
  /// The last entry.
  var last: AccessPath.Position

  /// Returns the fraction of the range before an entry, 0 to 1, assuming evenly spread entries; nil
  /// if it cannot be estimated.
  func share(before entry: AccessPath.Position) -> Double? {
    if first.key == last.key {
      let width = Double(last.number - first.number)
      return width > 0 ? Double(entry.number - first.number) / width : nil
    }
    // The common prefix of all keys carries no information.
    let common = zip(first.key, last.key).prefix { $0 == $1 }.count
    let start = Self.word(of: first.key, from: common)
    // Subtracted as integers: neighbours differ in their last bits only.
    let passed = Self.word(of: entry.key, from: common) &- start
    let width = Self.word(of: last.key, from: common) &- start
    return passed > 0 ? min(1, Double(passed) / Double(width)) : nil
  }

  /// Returns eight bytes of a key as a number; bytes after its end count as 0.
  private static func word(of key: [UInt8], from start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
  }
}
