import CPostgreSQL

// Notifications of other sessions (`LISTEN` and `NOTIFY`).
extension PostgreSQLConnection {
  /// The socket on which notifications arrive, for `poll`. The socket changes when a lost
  /// connection is replaced.
  package var socket: Int32 { PQsocket(handle) }

  /// Reads the data that has arrived, without waiting for more.
  ///
  /// - Throws: ``StoreError/Code/unreachable`` if the connection is lost.
  package func receive() throws {
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
      throw failure(nil, "LISTEN")
    }
  }

  /// Removes the next notification that has arrived, and returns its payload; nil if there is none.
  package func nextPayload() -> String? {
    guard let notification = PQnotifies(handle) else { return nil }
    defer { PQfreemem(notification) }
    return String(cString: notification.pointee.extra)
  }
}
