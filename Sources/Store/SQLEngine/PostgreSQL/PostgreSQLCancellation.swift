import CPostgreSQL

/// The cancellation of the statement that a session runs, over a separate connection to the server.
/// After the session has ended, it cancels nothing.
///
/// Any thread may use the object: it never changes, and libpq permits `PQcancel` from any thread.
final class PostgreSQLCancellation: @unchecked Sendable {
  // Read only, by a function that any thread may call.
  private let request: OpaquePointer

  /// Returns nil if the connection is lost.
  init?(of connection: OpaquePointer) {
    guard let request = PQgetCancel(connection) else { return nil }
    self.request = request
  }

  deinit { PQfreeCancel(request) }

  /// Blocks until the server has signalled the session. The session ignores the signal if no
  /// statement runs.
  func send() {
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(request, &reason, Int32(reason.count))
  }
}
