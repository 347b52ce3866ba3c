import CPostgreSQL

/// How the statement that a connection runs is cancelled: by another connection, which tells the server.
///
/// It is of one session, and cancels nothing when that is over.
final class PostgreSQLCancellation: @unchecked Sendable {
  // Only read, by a function that may be called from any thread.
  private let request: OpaquePointer

  /// - Returns: nil when there is no connection.
  init?(of connection: OpaquePointer) {
    guard let request = PQgetCancel(connection) else { return nil }
    self.request = request
  }

  deinit { PQfreeCancel(request) }

  /// Has the server end the statement that runs. Blocks until the server has signalled that to the
  /// session, which ignores it when no statement runs.
  func send() {
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(request, &reason, Int32(reason.count))
  }
}
