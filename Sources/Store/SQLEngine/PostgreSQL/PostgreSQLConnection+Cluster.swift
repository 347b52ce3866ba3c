import CPostgreSQL
import StoreModel

// Row locks use `FOR NO KEY UPDATE`, the lock that an update of the row takes. A table lock
// (`EXCLUSIVE`) waits for all transactions that hold row locks of the table. All locks end with
// their transaction. A transaction ends when its session is lost or idle for too long.
extension PostgreSQLConnection {
  /// Creates the table if it is missing, then begins a transaction with an `EXCLUSIVE` lock on it
  /// and without time limits.
  ///
  /// The first caller has no table to lock, so the table is created first. If two callers create
  /// it at the same time, one fails and tries again, at most three times.
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

extension PostgreSQLConnection {
  /// The socket on which notifications arrive, for `poll`. The socket changes when a lost
  /// connection is replaced.
  package var socket: Int32 { PQsocket(handle) }

  /// Reads the data that has arrived, without waiting for more.
  package func receive() throws {
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
      throw failure(nil, "LISTEN")
    }
  }

  /// Removes and returns the payload of the next notification that has arrived; nil without one.
  package func nextPayload() -> String? {
    guard let notification = PQnotifies(handle) else { return nil }
    defer { PQfreemem(notification) }
    return String(cString: notification.pointee.extra)
  }
}
