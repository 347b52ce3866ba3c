import SQLEngine

/// The statements that read entries of the value index. The argument `$1` is the database, `$2` the
/// number of the field, `$5` the most entries, and `$6` the zone.
///
/// A position in the index is a key and a record number. One statement could read all entries after
/// a position by comparing key and number together, but each entry would take twice the time. So
/// one statement reads the entries with the key of the position, and another one those with later
/// keys.
///
/// To search one zone, a statement skips the entries of other zones. That costs little, because an
/// entry contains its zone.
struct EntrySelection {
  /// The part of a range that a statement reads.
  enum Span {
    /// The entries with keys from `$3` to `$4`, both inclusive.
    case whole
    /// The entries with the key `$3` whose record numbers come after `$4`.
    case oneKey
    /// The entries with keys from `$3` to `$4`, without the key at which reading began: `$3` in
    /// ascending order, `$4` in descending order.
    case rest
  }

  /// Returns a statement. There are twelve, so that each connection prepares each of them once.
  ///
  /// - Parameters:
  ///   - span: the part of the range to read.
  ///   - isDescending: whether to read from the greatest key to the least. For ``Span/oneKey`` the
  ///     numbers are then below `$4`.
  ///   - inZone: whether to read the entries of one zone only.
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

  /// Returns the statements of a span: those that read upwards, then downwards, each for all zones and
  /// for one.
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
