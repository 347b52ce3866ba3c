/// The first and the last entry of a range of the value index. With them, a search estimates which
/// fraction of the range a reader has read.
struct EntrySpan {
  /// The first entry.
  var first: AccessPath.Position
  /// The last entry.
  var last: AccessPath.Position

  /// Returns the estimated fraction of the range's entries that come before an entry (0–1). The
  /// estimate assumes that the keys, or the numbers if there is one key, are spread evenly. The
  /// result is nil if no estimate is possible.
  func share(before entry: AccessPath.Position) -> Double? {
    if first.key == last.key {
      let width = Double(last.number - first.number)
      return width > 0 ? Double(entry.number - first.number) / width : nil
    }
    // All keys of the range begin with the same bytes, so the estimate starts after these.
    let common = zip(first.key, last.key).prefix { $0 == $1 }.count
    let start = Self.word(of: first.key, from: common)
    // The subtraction uses integers, because two neighbours may differ in the last bits only, which
    // a `Double` would lose.
    let passed = Self.word(of: entry.key, from: common) &- start
    let width = Self.word(of: last.key, from: common) &- start
    return passed > 0 ? min(1, Double(passed) / Double(width)) : nil
  }

  /// Returns the eight bytes of a key from the index `start` on, as a number. Bytes after the end
  /// of the key count as 0.
  private static func word(of key: [UInt8], from start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
  }
}
