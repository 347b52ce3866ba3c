import CPostgreSQL

// What other sessions notify of (`LISTEN` and `NOTIFY`).
extension PostgreSQLConnection {
  /// Has what comes when others notify.
  package var socket: Int32 { PQsocket(handle) }

  /// Takes in what has come, without waiting for more.
  package func receive() throws {
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
      throw failure(nil, "LISTEN")
    }
  }

  /// The payload of the next notification that has come; nil when there is none.
  package func nextPayload() -> String? {
    guard let notification = PQnotifies(handle) else { return nil }
    defer { PQfreemem(notification) }
    return String(cString: notification.pointee.extra)
  }
}
