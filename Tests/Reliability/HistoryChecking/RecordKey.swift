/// A record, wherever it lies.
public struct RecordKey: Codable, Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The database, by a name of the test's own: that of a user for a private one.
  public var database: String
  public var zone: String
  public var name: String

  public init(database: String, zone: String, name: String) {
    self.database = database
    self.zone = zone
    self.name = name
  }

  public var description: String { "\(database)/\(zone)/\(name)" }

  public static func < (one: RecordKey, other: RecordKey) -> Bool {
    (one.database, one.zone, one.name) < (other.database, other.zone, other.name)
  }
}

/// The observed state of a record.
public enum Sight: Codable, Hashable, Sendable, CustomStringConvertible {
  case absent
  /// The change tag, and the mark of the save that made the record what it is.
  case record(tag: String, mark: String)

  public var mark: String? {
    if case .record(_, let mark) = self { mark } else { nil }
  }

  public var description: String {
    switch self {
    case .absent: "no record"
    case .record(let tag, let mark): "\(mark) (tag \(tag))"
    }
  }
}
