/// The progress of one record's files, as fractions from 0 to 0.99 that rise by at least 0.01.
///
/// The step of 0.01 limits the calls of a progress block to about 100 for a record of any size.
/// Only the step to 0.99 can be smaller.
struct AssetProgress {
  /// The largest fraction that this type returns. The operation itself reports 1 when the record is
  /// complete.
  static let most = 0.99
  /// The smallest increase that is worth a report.
  private static let step = 0.01

  let total: Int64
  private var settled: Int64 = 0
  private var reported = 0.0

  init(total: Int64) {
    self.total = total
  }

  /// Records the number of bytes of the current file that are transferred so far.
  ///
  /// - Returns: The fraction to report. Nil if it is less than 0.01 above the last one and not the
  ///   first 0.99. Also nil if `total` is 0.
  mutating func moved(_ count: Int64) -> Double? {
    guard total > 0 else { return nil }
    let fraction = min(Self.most, Double(settled + count) / Double(total))
    guard
      fraction >= reported + Self.step || (fraction == Self.most && reported < fraction)
    else {
      return nil
    }
    reported = fraction
    return fraction
  }

  /// Records that the current file is completely transferred.
  ///
  /// - Returns: The fraction to report, as in ``moved(_:)``.
  mutating func finishFile(of size: Int64) -> Double? {
    let fraction = moved(size)
    settled += size
    return fraction
  }
}
