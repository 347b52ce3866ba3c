import SQLEngine

extension DeviceTable {
  /// The separator of texts in a list; names have no such character.
  private static let separator = "\u{1F}"

  /// Locks the rows of users' devices, in order, for a transaction that counts their badges.
  ///
  /// The writer calls it at the beginning of a transaction that has badge owners
  /// (``WriteLocks/badgeOwners``), on a shared store. All servers lock in the order of kinds and
  /// tokens, so that two transactions do not deadlock.
  static func lockBadges(of users: Set<String>, over connection: any SQLConnection) throws {
    _ = try connection.first(
      """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM device_tokens WHERE user_record_name = ANY (string_to_array($1, $2))
        ORDER BY kind, token FOR NO KEY UPDATE) AS devices
      """,
      [.text(users.joined(separator: separator)), .text(separator)]
    ) { _ in true }
  }
}
