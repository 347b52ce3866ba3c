import SQLEngine

/// The statements that read entries of the value index. The argument `$1` is the database, `$2` the
/// number of the field, `$5` the most entries, and `$6` the zone.
///
/// A position is a key and a record number. A statement that compares both together takes twice
/// the time for each entry. So one statement reads the entries with the key of the position, and
/// another those with later keys.
///
/// To search one zone, a statement skips the entries of others, which contain their zones.
struct EntrySelection {
  /// The part of a range that a statement reads.
  enum Span {
    /// Keys from `$3` to `$4`, both inclusive.
    case whole
    /// The key `$3`, and record numbers after `$4`.
    case oneKey
    /// Keys from `$3` to `$4`, without the key at which reading began: `$3` in ascending order,
    /// `$4` in descending order.
    case rest
  }

  /// There are twelve statements, so that each connection prepares each once. In descending order,
  /// the numbers of ``Span/oneKey`` are below `$4`.
  func callAsFunction(_ span: Span, isDescending: Bool, inZone: Bool) -> Statement {
    let statements =
      switch span {
      case .whole: whole
      case .oneKey: oneKey
      case .rest: rest
      }
    return statements[(isDescending ? 2 : 0) + (inZone ? 1 : 0)]
  }

  private let whole = statements(
    up: "value_key >= $3 AND value_key <= $4", down: "value_key >= $3 AND value_key <= $4")
  private let oneKey = statements(
    up: "value_key = $3 AND record_number > $4", down: "value_key = $3 AND record_number < $4")
  private let rest = statements(
    up: "value_key > $3 AND value_key <= $4", down: "value_key >= $3 AND value_key < $4")

  /// Upwards, then downwards, each for all zones and for one.
  private static func statements(up: String, down: String) -> [Statement] {
    [(up, "value_key, record_number"), (down, "value_key DESC, record_number DESC")].flatMap {
      condition, order in
      ["", " AND zone_number = $6"].map { zone in
        Statement(
          """
          SELECT record_number, value_key FROM value_index WHERE database_id = $1
            AND field_number = $2 AND \(condition)\(zone) ORDER BY \(order) LIMIT $5
          """)
      }
    }
  }
}
