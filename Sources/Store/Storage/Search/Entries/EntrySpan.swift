/// The ends of a range of the value index, by which a search estimates which fraction of the range
/// a reader has read.
struct EntrySpan {
  var first: AccessPath.Position
  var last: AccessPath.Position

  /// The estimated fraction (0–1) of entries before an entry, as if keys, or the numbers of one
  /// key, were spread evenly.
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

  /// Eight bytes of a key as a number. Bytes after the end count as 0.
  private static func word(of key: [UInt8], from start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
  }
}
