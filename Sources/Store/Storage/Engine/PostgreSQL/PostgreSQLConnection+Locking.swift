import CPostgreSQL
import CloudKitModel
import StoreModel

// Locks are rows': `FOR NO KEY UPDATE` is the lock that an update of the row takes. A lock of a whole
// table ends the turn of all who lock rows of it. All end with their transaction, and a session that is
// lost or stands still loses its transaction.
extension PostgreSQLConnection {
  /// The separator of texts in a list; names have no such character.
  private static let separator = "\u{1F}"

  /// One way to the server and back: with the locks the transaction begins, and what it reads then is
  /// what all who had them before have left.
  func beginWriting(locking locks: WriteLocks) throws -> Int64? {
    var script = "BEGIN"
    if locks.reach >= .reference {
      // The counter of databases stands for all that is no database's.
      script += "; SELECT 1 FROM counters WHERE name = 'database' FOR NO KEY UPDATE"
    }
    if locks.reach == .everything {
      script += "; LOCK TABLE databases IN EXCLUSIVE MODE"
    } else if !locks.databases.isEmpty {
      let numbers = locks.databases.map { "\($0.rawValue)" }.joined(separator: ",")
      script += "; SELECT 1 FROM databases WHERE database_id IN (\(numbers))"
      script += " ORDER BY database_id FOR NO KEY UPDATE"
    }
    script += "; SELECT value FROM counters WHERE name = 'schema'"
    let version = try begin { try lastInteger(of: script) }
    if !locks.badgeOwners.isEmpty {
      _ = try first(
        """
        SELECT COUNT(*) FROM (
          SELECT 1 FROM device_tokens WHERE user_record_name = ANY (string_to_array($1, $2))
          ORDER BY kind, token FOR NO KEY UPDATE) AS devices
        """,
        [.text(locks.badgeOwners.joined(separator: Self.separator)), .text(Self.separator)]
      ) { _ in true }
    }
    return version
  }

  /// Runs statements and answers the number that the last of them finds; nil when it finds none.
  private func lastInteger(of script: String) throws -> Int64? {
    try settle()
    let result = PQexec(handle, script)
    defer { PQclear(result) }
    try check(result, script)
    guard PQntuples(result) > 0, let text = PQgetvalue(result, 0, 0) else { return nil }
    return Int64(String(cString: text))
  }

  /// Those who migrate wait for each other, and for who writes.
  ///
  /// The first of them finds nothing that could be locked. Of those that make the table at the same
  /// time one is told that another was quicker.
  func beginMigrating() throws {
    var attempts = 3
    while true {
      do {
        try begin {
          try execute("CREATE TABLE IF NOT EXISTS store_form (version BIGINT NOT NULL)")
        }
        break
      } catch let error as StoreError where error.code == .statementFailed {
        attempts -= 1
        guard attempts > 0 else { throw error }
      }
    }
    try begin {
      try execute(
        """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
        LOCK TABLE store_form IN EXCLUSIVE MODE
        """)
    }
    let isThere =
      try first("SELECT to_regclass('databases') IS NOT NULL", []) { $0.integer(0) != 0 } ?? false
    if isThere { try execute("LOCK TABLE counters, databases IN EXCLUSIVE MODE") }
  }
}
