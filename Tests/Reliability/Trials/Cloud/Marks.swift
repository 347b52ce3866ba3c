import HistoryChecking

/// What the records of a trial hold: a mark, which no other save leaves, and a level, by which some
/// subscriptions choose. The mark tells the level.
enum Marks {
  static func make(_ device: String, _ number: Int, level: Int) -> String {
    "\(device)-\(number)-L\(level)"
  }

  static func level(of mark: String) -> Int {
    mark.split(separator: "L").last.flatMap { Int($0) } ?? 0
  }

  /// Subscriptions to high levels ask for more than this.
  static let highLevel = 4

  /// What a write of such a record is about.
  static func topics(of key: RecordKey, mark: String) -> Set<String> {
    let isHigh = level(of: mark) > highLevel
    return isHigh ? [key.database, key.database + "/high"] : [key.database]
  }
}
