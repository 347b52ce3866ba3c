import HistoryChecking

/// The contents of the records of a reliability test: a mark that no other save uses, and a level,
/// by which some subscriptions select. The mark contains the level.
enum Marks {
  static func make(_ device: String, _ number: Int, level: Int) -> String {
    "\(device)-\(number)-L\(level)"
  }

  static func level(of mark: String) -> Int {
    mark.split(separator: "L").last.flatMap { Int($0) } ?? 0
  }

  /// Subscriptions to high levels ask for more than this.
  static let highLevel = 4

  /// Returns the topics of a write of such a record.
  static func topics(of key: RecordKey, mark: String) -> Set<String> {
    let isHigh = level(of: mark) > highLevel
    return isHigh ? [key.database, key.database + "/high"] : [key.database]
  }
}
