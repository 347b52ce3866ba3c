import CPostgreSQL
import Foundation
import StoreModel

/// The session on the PostgreSQL server that belongs to a connection. A session has the advisory
/// lock of a Petrel server, and the lock ends with the session.
///
/// The lock only keeps a store from being moved while it is served. Writes do not depend on it.
package struct PostgreSQLSession: Hashable, Sendable {
  /// The first half of an advisory lock's number; the second half is the schema's.
  enum Lock: Int32 {
    /// "PETR": a shared lock of each server that has the store open, and an exclusive lock of a
    /// program that moves it.
    case serving = 0x5045_5452
  }

  /// The seconds to wait for the end of a lost session or of a program with the lock.
  private static let patience = 2.0
  /// The microseconds between two attempts.
  private static let pause: UInt32 = 20_000

  private let number: Int64
  /// The system reuses process numbers, so the number alone is not unique.
  private let began: String
  /// The ID of the schema with the store's tables, which is a part of the lock's number.
  private let schema: Int64

  /// The number is PostgreSQL's own: a pooler invents the one that libpq has.
  ///
  /// The statement is not prepared, because a pooler may lead to a session in which others have
  /// prepared statements (``checkIsOwn(of:)``).
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the user has no schema for the store.
  package init(of connection: PostgreSQLConnection) throws {
    let statement = """
      SELECT pid, backend_start::text, (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      FROM pg_stat_activity WHERE pid = pg_backend_pid()
      """
    let result = connection.answer(to: statement)
    defer { PQclear(result) }
    try connection.check(result, statement)
    func value(_ column: Int32) -> String { String(cString: PQgetvalue(result, 0, column)) }
    guard PQntuples(result) == 1, let number = Int64(value(0)), let schema = Int64(value(2)) else {
      throw StoreError(
        .cannotOpen, "the database at \(connection.address) has no schema that its user may use")
    }
    self.number = number
    began = value(1)
    self.schema = schema
  }

  /// Checks that no other connection gets this session between two transactions.
  ///
  /// Prepared statements, settings, locks of sessions and `LISTEN` belong to a session. A pooler such
  /// as PgBouncer can give it to another connection after each transaction or statement. It then
  /// invents the number that libpq has, so only a connection with such a number is examined: another
  /// connection must not get this session, and this one must not get another, also while a
  /// transaction keeps the other's.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the pooler shares the session.
  func checkIsOwn(of connection: PostgreSQLConnection) throws {
    guard number != connection.announcedSession else { return }
    var reason = "its connections share sessions"
    do {
      let other = try PostgreSQLConnection(besides: connection)
      defer { other.close() }
      try other.execute("BEGIN")
      let isShared =
        try PostgreSQLSession(of: other).number == number
        || PostgreSQLSession(of: connection).number != number
        || PostgreSQLSession(of: connection).number != number
      guard isShared else { return }
    } catch let error as StoreError where error.reason.contains("statement pooling") {
      // PgBouncer refuses transactions then.
      reason = error.reason
    } catch let error as StoreError where error.code == .unreachable {
      // A pool without another session leaves each to its connection, or the check comes again with
      // the next connection.
      return
    }
    throw StoreError(
      .cannotOpen,
      "the pooler at \(connection.address) changes sessions between transactions (\(reason)), but "
        + "Petrel needs sessions of its own for prepared statements, settings and LISTEN: set "
        + "pool_mode = session in PgBouncer, or connect to PostgreSQL itself")
  }

  /// Ends this lost session and waits for its end. The server may not have detected the loss, and
  /// may still execute a transaction of the session.
  ///
  /// A pooler that has noticed the loss may have given the session to another connection. It has then
  /// no transaction of this one. If it now belongs to `connection`, it is left alone.
  ///
  /// - Throws: ``StoreError/Code/unreachable`` if the session has not ended after two seconds.
  package func end(from connection: PostgreSQLConnection) throws {
    let deadline = ContinuousClock.now + .seconds(Self.patience)
    while try connection.first(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid = $1 AND backend_start::text = $2 AND pid <> pg_backend_pid()
      """, [.integer(number), .text(began)], { _ in true }) != nil
    {
      guard ContinuousClock.now < deadline else {
        throw StoreError(.unreachable, "a transaction of a lost connection has not ended yet")
      }
      // On a thread of its own, which may block.
      usleep(Self.pause)
    }
  }

  /// The way in which a program holds the store open.
  package enum Serving {
    /// Together with other servers.
    case together
    /// Alone, while it moves the whole store.
    case alone
  }

  /// Waits up to two seconds, because the program that has the lock may be about to end.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if another program has a lock that excludes this
  ///   one.
  package func lock(_ connection: PostgreSQLConnection, for serving: Serving) throws {
    let function =
      switch serving {
      case .together: "pg_try_advisory_lock_shared"
      case .alone: "pg_try_advisory_lock"
      }
    let deadline = ContinuousClock.now + .seconds(Self.patience)
    while try connection.first(
      "SELECT \(function)($1::int4, $2::int8::oid::int4)",
      [.integer(Int64(Lock.serving.rawValue)), .integer(schema)], { $0.integer(0) }) != 1
    {
      guard ContinuousClock.now < deadline else {
        throw StoreError(
          .cannotOpen,
          serving == .alone
            ? "a server has the store at \(connection.address) open; stop it first"
            : "the store at \(connection.address) is being moved; wait until that is done")
      }
      // On a thread of its own, which may block.
      usleep(Self.pause)
    }
  }

  package static func isServed(over connection: PostgreSQLConnection) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::int8::oid
        AND objid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND objsubid = 2 AND granted
      LIMIT 1
      """, [.integer(Int64(Lock.serving.rawValue))]
    ) { _ in true } != nil
  }
}

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
