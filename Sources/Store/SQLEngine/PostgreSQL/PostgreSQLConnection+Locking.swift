import CPostgreSQL
import StoreModel

// Locks are rows': `FOR NO KEY UPDATE` is the lock that an update of the row takes. A lock of a whole
// table ends the turn of all who lock rows of it. All end with their transaction, and a session that is
// lost or stands still loses its transaction.
extension PostgreSQLConnection {
  package func beginWriting(with statements: [String]) throws -> Int64? {
    let script = (["BEGIN"] + statements).joined(separator: "; ")
    return try begin { try lastInteger(of: script) }
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

  /// The first caller finds no table that it could lock. When two make the table at the same time, the
  /// statement of one fails, and it tries again.
  package func beginAlone(with table: String, definedBy definition: String) throws {
    var attempts = 3
    while true {
      do {
        try begin { try execute(definition) }
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
        LOCK TABLE \(table) IN EXCLUSIVE MODE
        """)
    }
  }
}
