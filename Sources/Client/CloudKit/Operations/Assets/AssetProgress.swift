/// Turns bytes that are moved for a record into fractions, in steps that are worth telling.
struct AssetProgress {
  /// What is told at most: 1 means that the record is done, and comes from elsewhere.
  static let most = 0.99
  private static let step = 0.01

  let total: Int64
  /// The bytes of the files that are moved whole.
  private var settled: Int64 = 0
  private var told = 0.0

  init(total: Int64) {
    self.total = total
  }

  /// The fraction to tell when so many bytes of the present file are moved; nil when it is hardly
  /// more than the last.
  mutating func moved(_ count: Int64) -> Double? {
    guard total > 0 else { return nil }
    let fraction = min(Self.most, Double(settled + count) / Double(total))
    guard fraction >= told + Self.step || (fraction == Self.most && told < fraction) else {
      return nil
    }
    told = fraction
    return fraction
  }

  /// The present file, of this size, is moved whole.
  mutating func finishFile(of size: Int64) -> Double? {
    let fraction = moved(size)
    settled += size
    return fraction
  }
}
