import CPostgreSQL
import Foundation
import StoreModel

/// A connection to PostgreSQL.
///
/// Statements are prepared on the server once and kept. If the connection is lost, the transaction
/// under way fails, and the next transaction connects again.
///
/// Writing transactions of one or several processes run concurrently. They wait only for the locks
/// that others took when they began (`WriteLocks`). Statements whose results nobody reads are sent
/// without waiting (`runLater`).
///
/// One thread at a time may use the connection. Only the closure of ``interruption()`` may be
/// called from any thread.
package final class PostgreSQLConnection: SQLConnection {
  /// The settings of a session. Each new connection gets them again.
  package struct Settings {
    /// The time limit of a statement in milliseconds; 0 for no limit. A statement that takes longer
    /// fails with ``StoreError/Code/overloaded``.
    package var statementTimeout: Int
    /// The time limit for waiting for other writers' locks, in milliseconds; 0 for no limit. A
    /// statement that waits longer fails with ``StoreError/Code/overloaded``.
    package var lockTimeout = 10_000
    /// The kind of the advisory lock by which the program marks the store as open; nil for no lock.
    package var serving: PostgreSQLSession.Serving?
    /// The milliseconds after which the server ends an idle transaction; 0 for no limit.
    package var idleTimeout = 0
    /// Whether the server plans each statement once, and by indexes alone. It would otherwise plan a
    /// statement with arrays each time, because it knows the number of rows then. A plan that is kept
    /// must not depend on the present size of a table.
    package var plansOnce = false
    /// The limits of each wait for the server.
    package var limits = PostgreSQLExchange.Limits()
    /// The outages of the server, as the connections of the store know them.
    package var outage = PostgreSQLOutage()

    /// Creates settings. By default, the time limit is a minute for a statement and 10 seconds for
    /// a lock; an idle transaction has no limit.
    package init(statementTimeout: Int = 60_000, serving: PostgreSQLSession.Serving? = nil) {
      self.statementTimeout = statementTimeout
      self.serving = serving
    }
  }

  /// The kind of the engine: PostgreSQL.
  package var kind: SQLEngineKind { .postgreSQL }
  /// The address without user and password.
  package var name: String { "\(address)" }
  /// The address of the server and the database.
  package let address: PostgreSQLAddress
  /// libpq's connection (`PGconn`).
  package let handle: OpaquePointer
  let settings: Settings
  /// Sends and waits.
  let exchange: PostgreSQLExchange
  /// The record of damage that PostgreSQL found in its files; nil if this connection only throws
  /// errors about damage.
  package var damage: StoreDamage?
  /// The arguments of the next statement.
  var arguments = PostgreSQLArguments()
  /// The texts of the statements that were sent and whose results were not read yet.
  var pipeline: [String] = []
  /// The statements of this session, by their texts. A new session has none.
  private var statements: [String: PostgreSQLStatement] = [:]
  /// The session of this connection on the server; nil before it is set up.
  private var session: PostgreSQLSession?
  /// Whether the session has its settings and, if ``Settings/serving`` requires it, its lock.
  private var isPrepared = false
  /// Whether the connection must be replaced although libpq does not count it as lost.
  var isUnfit = false
  /// Whether ``close()`` was called.
  private var isClosed = false
  /// The gate that each statement passes.
  package var gate: StatementGate?
  /// The read under way, if it can be cancelled.
  package var read: ReadCancellation?
  /// The time of the last cancelled read on this connection; nil if no late cancellation is
  /// expected.
  private var cancelled: ContinuousClock.Instant?
  /// The cancellation of this session, made at its first use.
  private var knownCancellation: PostgreSQLCancellation?
  /// The most seconds by which a pool or proxy between this process and the server may delay a
  /// cancellation.
  private static let latestCancellation = 10.0

  /// Connects, and sets up the session.
  ///
  /// - Parameter checksSession: whether the session must be the connection's own. Behind a pooler
  ///   that takes another connection.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the server cannot be reached, if a pooler shares
  ///   sessions, or if the lock of ``Settings/serving`` is taken.
  package init(
    to address: PostgreSQLAddress, settings: Settings = Settings(), checksSession: Bool = true
  ) throws {
    self.address = address
    self.settings = settings
    let opened = address.withParameters { PQconnectdbParams($0, $1, 1) }
    guard let opened else {
      throw StoreError(.cannotOpen, "there is not enough memory for a connection")
    }
    handle = opened
    petrel_ignore_notices(handle)
    exchange = PostgreSQLExchange(over: handle, to: address, limits: settings.limits)
    do {
      guard PQstatus(handle) == CONNECTION_OK else {
        throw StoreError(.cannotOpen, "\(address) cannot be reached: \(message)")
      }
      try prepareSession(checkingIsOwn: checksSession)
    } catch {
      close()
      throw error
    }
  }

  /// Opens a connection to the same address without a check of its session, for the check of the
  /// other's.
  convenience init(besides other: PostgreSQLConnection) throws {
    var settings = other.settings
    settings.serving = nil
    settings.outage = PostgreSQLOutage()
    try self.init(to: other.address, settings: settings, checksSession: false)
  }

  deinit { close() }

  // MARK: The session

  /// Whether the connection was lost, or must be replaced for another reason.
  package var isLost: Bool { PQstatus(handle) != CONNECTION_OK || isUnfit }

  /// Connects if the connection is lost, and sets up a new session. Then ends the sessions that this
  /// and other connections of the store have lost.
  ///
  /// - Throws: ``StoreError/Code/unreachable``.
  package func getReady() throws {
    if !isLost, isPrepared {
      do {
        return try settings.outage.endLostSessions(from: self)
      } catch {
        // This may be the first statement after a loss that nobody has noticed.
        guard isLost else { throw error }
      }
    }
    if isLost {
      isPrepared = false
      isUnfit = false
      if let session { settings.outage.note(lost: session) }
      session = nil
      statements = [:]
      pipeline = []
      knownCancellation = nil
      try settings.outage.attempt { () throws(StoreError) in
        PQreset(handle)
        guard PQstatus(handle) == CONNECTION_OK else {
          throw StoreError(.unreachable, "\(address) cannot be reached: \(message)")
        }
      }
      exchange.begin()
    }
    do {
      try prepareSession(checkingIsOwn: false)
    } catch let error as StoreError {
      throw StoreError(.unreachable, error.reason, statement: error.statement)
    }
  }

  /// Sets up a new session: applies the settings, ends lost sessions, and takes the lock of
  /// ``Settings/serving``.
  private func prepareSession(checkingIsOwn: Bool) throws {
    // Every commit is on disk before it is acknowledged, whatever the server's default is. The
    // server too detects a dead client within half a minute, and releases its locks.
    try execute(
      """
      SET synchronous_commit = on; SET standard_conforming_strings = on;
      SET statement_timeout = \(settings.statementTimeout);
      SET lock_timeout = \(settings.lockTimeout);
      SET idle_in_transaction_session_timeout = \(settings.idleTimeout);
      SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5;
      SET tcp_keepalives_count = 3; SET tcp_user_timeout = 30000;
      SET plan_cache_mode = \(settings.plansOnce ? "force_generic_plan" : "auto")
      """)
    if settings.plansOnce {
      // The cost of a plan that cannot do without is so high that it would be compiled.
      try execute(
        "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off"
      )
    }
    let session = try PostgreSQLSession(of: self)
    if checkingIsOwn { try session.checkIsOwn(of: self) }
    self.session = session
    try settings.outage.endLostSessions(from: self)
    if let serving = settings.serving { try session.lock(self, for: serving) }
    isPrepared = true
  }

  // MARK: Transactions

  /// Whether a transaction is open, also one that has failed.
  package var isInTransaction: Bool {
    guard !isClosed, !isUnfit else { return false }
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
  }

  /// Whether a transaction is open in which no statement has failed.
  package var canContinue: Bool {
    isInTransaction && PQtransactionStatus(handle) != PQTRANS_INERROR
  }

  /// True: other servers and programs may write at the same time.
  package var isShared: Bool { true }

  /// Begins a transaction in which each statement sees what was committed before it (READ
  /// COMMITTED).
  package func beginWriting() throws {
    try begin { try execute("BEGIN") }
  }

  /// Begins a transaction that reads one snapshot (REPEATABLE READ, READ ONLY).
  package func beginReading() throws {
    try begin { try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
  }

  /// Runs `body`, whose statements are each a transaction by itself. If the connection turns out to
  /// be lost, the method runs `body` once more.
  package func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value {
    var isFirst = true
    while true {
      try getReady()
      do {
        return try body()
      } catch {
        guard isFirst, isLost else { throw error }
        isFirst = false
      }
    }
  }

  /// Connects if the connection is lost, and begins a transaction by `statement`. If the connection
  /// turns out to be lost, the method runs `statement` once more.
  package func begin(_ statement: () throws -> Void) throws {
    try withoutTransaction(statement)
  }

  /// Commits the transaction, after the statements under way.
  ///
  /// If a statement has failed, PostgreSQL rolls back instead, and answers with another command tag
  /// than `COMMIT`.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if PostgreSQL has rolled back.
  package func commit() throws {
    let word: String
    if pipeline.isEmpty {
      let result = answer(to: "COMMIT")
      defer { PQclear(result) }
      try check(result, "COMMIT")
      word = String(cString: PQcmdStatus(result))
    } else {
      word = try commitPipeline()
    }
    guard word == "COMMIT" else {
      throw StoreError(
        .statementFailed,
        "an earlier statement of the transaction failed, so PostgreSQL committed nothing",
        statement: "COMMIT")
    }
  }

  // MARK: Statements

  /// Runs statements without arguments, after the statements under way. libpq sends the script as
  /// one message.
  package func execute(_ script: String) throws {
    try read?.check()
    try settle()
    let result = answer(to: script)
    defer { PQclear(result) }
    try check(result, script)
  }

  /// Sends a script, and waits for its last result or the first that is a failure.
  func answer(to script: String) -> OpaquePointer? {
    answer { PQsendQuery(handle, script) }
  }

  /// Waits for the last result of what `send` sends, or the first that is a failure; nil if nothing
  /// can be sent.
  private func answer(_ send: () -> Int32) -> OpaquePointer? {
    guard !isUnfit else { return nil }
    exchange.clear()
    return send() == 1 ? exchange.result() : nil
  }

  /// Runs a prepared statement, after the statements under way, and returns the number of changed
  /// rows.
  @discardableResult
  package func run(_ statement: Statement, _ arguments: [SQLValue]) throws -> Int {
    let known = try pass(statement)
    try self.arguments.set(arguments)
    try read?.check()
    do {
      try settle()
    } catch {
      // A rollback undoes the failed statement too.
      guard known.text.hasPrefix("ROLLBACK") else { throw error }
    }
    try prepare(known)
    let result = answer {
      self.arguments.withPointers(first: known.argumentCount) {
        PQsendQueryPrepared(handle, known.name, $0, $1, $2, $3, 1)
      }
    }
    defer { PQclear(result) }
    try check(result, known.text)
    return Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  /// The number of the session that the other side announced: PostgreSQL's own, or one that a pooler
  /// invented.
  var announcedSession: Int64 { Int64(PQbackendPID(handle)) }

  /// Returns a closure that asks the server to cancel the session's statement. The closure blocks
  /// until the server has signalled the session.
  package func interruption() -> @Sendable () -> Void {
    let session = cancellation()
    return { session?.send() }
  }

  /// Notes the time of a cancelled read, so that a cancellation that arrives late is recognised
  /// (``isCancelledByMistake()``).
  package func noteInterruption() { cancelled = .now }

  /// Returns the cancellation of this connection's statements; nil if the connection is lost.
  func cancellation() -> PostgreSQLCancellation? {
    let cancellation = knownCancellation ?? PostgreSQLCancellation(of: handle)
    knownCancellation = cancellation
    return cancellation
  }

  /// Returns whether a late cancellation of an earlier read has just cancelled another statement.
  /// This is assumed once after a cancelled read, within ``latestCancellation`` seconds; the call
  /// forgets the cancelled read.
  func isCancelledByMistake() -> Bool {
    guard let cancelled, read?.isCancelled != true else { return false }
    self.cancelled = nil
    return ContinuousClock.now - cancelled < .seconds(Self.latestCancellation)
  }

  /// Returns what the connection knows of a statement.
  func known(_ statement: Statement) -> PostgreSQLStatement {
    if let known = statements[statement.text] { return known }
    let known = PostgreSQLStatement(statement.text, number: statements.count)
    statements[known.text] = known
    return known
  }

  /// Lets a statement pass the gate. This comes before its arguments are set, because other
  /// statements may run first.
  func pass(_ statement: Statement) throws -> PostgreSQLStatement {
    let known = known(statement)
    if let gate { try gate.pass(known.effects(at: gate)) }
    return known
  }

  /// Prepares a statement on the server at its first use. ``arguments`` must be set before, because
  /// their types become the parameters' types.
  func prepare(_ statement: PostgreSQLStatement) throws {
    guard !statement.isPrepared else { return }
    let types = Array(arguments.types.prefix(statement.argumentCount))
    let result = answer {
      PQsendPrepare(handle, statement.name, statement.text, Int32(types.count), types)
    }
    defer { PQclear(result) }
    try check(result, statement.text)
    statement.isPrepared = true
  }

  /// Closes the connection, which ends its session and its locks.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    PQfinish(handle)
  }
}
