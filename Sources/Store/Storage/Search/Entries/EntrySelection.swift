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
enum EntrySelection {
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

  /// Returns the text of a statement. There are twelve texts, so that each connection prepares each
  /// of them once.
  ///
  /// - Parameters:
  ///   - span: the part of the range to read.
  ///   - isDescending: whether to read from the greatest key to the least. For ``Span/oneKey`` the
  ///     numbers are then below `$4`.
  ///   - inZone: whether to read the entries of one zone only.
  static func text(_ span: Span, isDescending: Bool, inZone: Bool) -> String {
    switch (span, isDescending, inZone) {
    case (.whole, false, false): wholeUp
    case (.whole, false, true): wholeUpInZone
    case (.whole, true, false): wholeDown
    case (.whole, true, true): wholeDownInZone
    case (.oneKey, false, false): oneKeyUp
    case (.oneKey, false, true): oneKeyUpInZone
    case (.oneKey, true, false): oneKeyDown
    case (.oneKey, true, true): oneKeyDownInZone
    case (.rest, false, false): restUp
    case (.rest, false, true): restUpInZone
    case (.rest, true, false): restDown
    case (.rest, true, true): restDownInZone
    }
  }

  private static let entries = """
    SELECT record_number, value_key FROM value_index WHERE database_id = $1 AND field_number = $2
    """
  private static let inZone = " AND zone_number = $6"
  private static let up = " ORDER BY value_key, record_number LIMIT $5"
  private static let down = " ORDER BY value_key DESC, record_number DESC LIMIT $5"

  private static let whole = entries + " AND value_key >= $3 AND value_key <= $4"
  private static let wholeUp = whole + up
  private static let wholeUpInZone = whole + inZone + up
  private static let wholeDown = whole + down
  private static let wholeDownInZone = whole + inZone + down

  private static let oneKeyUp = entries + " AND value_key = $3 AND record_number > $4" + up
  private static let oneKeyUpInZone =
    entries + " AND value_key = $3 AND record_number > $4" + inZone + up
  private static let oneKeyDown = entries + " AND value_key = $3 AND record_number < $4" + down
  private static let oneKeyDownInZone =
    entries + " AND value_key = $3 AND record_number < $4" + inZone + down

  private static let restUp = entries + " AND value_key > $3 AND value_key <= $4" + up
  private static let restUpInZone =
    entries + " AND value_key > $3 AND value_key <= $4" + inZone + up
  private static let restDown = entries + " AND value_key >= $3 AND value_key < $4" + down
  private static let restDownInZone =
    entries + " AND value_key >= $3 AND value_key < $4" + inZone + down
}
