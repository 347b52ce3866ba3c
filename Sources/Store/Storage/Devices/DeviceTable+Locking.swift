import SQLEngine

extension DeviceTable {
  /// No record name contains the character.
  private static let separator = "\u{1F}"

  /// Locks the rows of all devices of these users, for a transaction that changes badges.
  ///
  /// On a store that servers share, the writing thread calls this method at the beginning of a
  /// transaction with ``WriteLocks/badgeOwners``. All servers lock rows in the order of their keys,
  /// so that two transactions do not deadlock.
  static func lockBadges(of users: Set<String>, over connection: any SQLConnection) throws {
    _ = try connection.first(
      sql.locking.lockBadges, [.text(users.joined(separator: separator)), .text(separator)]
    ) { _ in true }
  }

  struct LockingStatements {
    let lockBadges = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM device_tokens WHERE user_record_name = ANY (string_to_array($1, $2))
        ORDER BY kind, token, container, environment FOR NO KEY UPDATE) AS devices
      """.except(.onPostgreSQL)
  }
}
