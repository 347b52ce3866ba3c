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
  /// The settings of a session, which each new connection gets again.
  package struct Settings {
    /// Milliseconds; 0 for no limit. A slower statement fails with ``StoreError/Code/overloaded``.
    package var statementTimeout: Int
    /// The longest wait for other writers' locks, in milliseconds; 0 for no limit. A longer wait
    /// fails with ``StoreError/Code/overloaded``.
    package var lockTimeout = 10_000
    /// The kind of the advisory lock by which the program marks the store as open; nil for no lock.
    package var serving: PostgreSQLSession.Serving?
    /// The milliseconds after which the server ends an idle transaction; 0 for no limit.
    package var idleTimeout = 0
    /// Whether the server plans each statement once, and by indexes alone. It would otherwise plan a
    /// statement with arrays each time, because it knows the number of rows then. A plan that is kept
    /// must not depend on the present size of a table.
    package var plansOnce = false
    package var limits = PostgreSQLExchange.Limits()
    package var outage = PostgreSQLOutage()

    package init(statementTimeout: Int = 60_000, serving: PostgreSQLSession.Serving? = nil) {
      self.statementTimeout = statementTimeout
      self.serving = serving
    }
  }

  package var kind: SQLEngineKind { .postgreSQL }
  package var name: String { "\(address)" }
  package let address: PostgreSQLAddress
  package let handle: OpaquePointer
  let settings: Settings
  let exchange: PostgreSQLExchange
  /// nil if this connection only throws errors about damage.
  package var damage: StoreDamage?
  var arguments = PostgreSQLArguments()
  var pipeline: [String] = []
  private var statements: [String: PostgreSQLStatement] = [:]
  private var session: PostgreSQLSession?
  /// Whether the session has its settings and, if ``Settings/serving`` requires it, its lock.
  private var isPrepared = false
  /// Whether the connection must be replaced although libpq does not count it as lost.
  var isUnfit = false
  private var isClosed = false
  package var gate: StatementGate?
  package var read: ReadCancellation?
  /// The time of the last cancelled read; nil if no late cancellation is expected.
  private var cancelled: ContinuousClock.Instant?
  private var knownCancellation: PostgreSQLCancellation?
  /// In seconds: the most by which a pool or proxy may delay a cancellation.
  private static let latestCancellation = 10.0

  /// - Parameter checksSession: whether to check that no pooler shares the session. Behind a
  ///   pooler that takes another connection.
  ///
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

  convenience init(besides other: PostgreSQLConnection) throws {
    var settings = other.settings
    settings.serving = nil
    settings.outage = PostgreSQLOutage()
    try self.init(to: other.address, settings: settings, checksSession: false)
  }

  deinit { close() }

  // MARK: The session

  package var isLost: Bool { PQstatus(handle) != CONNECTION_OK || isUnfit }

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

  /// A failed transaction counts as open.
  package var isInTransaction: Bool {
    guard !isClosed, !isUnfit else { return false }
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
  }

  package var canContinue: Bool {
    isInTransaction && PQtransactionStatus(handle) != PQTRANS_INERROR
  }

  package var isShared: Bool { true }

  /// READ COMMITTED: each statement sees what was committed before it.
  package func beginWriting() throws {
    try begin { try execute("BEGIN") }
  }

  /// REPEATABLE READ, READ ONLY: all statements see one snapshot.
  package func beginReading() throws {
    try begin { try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
  }

  /// If the connection turns out to be lost, runs `body` once more.
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

  package func begin(_ statement: () throws -> Void) throws {
    try withoutTransaction(statement)
  }

  /// Commits after the statements under way. If a statement has failed, PostgreSQL rolls back and
  /// answers with another command tag than `COMMIT`.
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

  /// Runs after the statements under way. libpq sends the script as one message.
  package func execute(_ script: String) throws {
    try read?.check()
    try settle()
    let result = answer(to: script)
    defer { PQclear(result) }
    try check(result, script)
  }

  func answer(to script: String) -> OpaquePointer? {
    answer { PQsendQuery(handle, script) }
  }

  /// Returns nil if nothing can be sent.
  private func answer(_ send: () -> Int32) -> OpaquePointer? {
    guard !isUnfit else { return nil }
    exchange.clear()
    return send() == 1 ? exchange.result() : nil
  }

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

  package func interruption() -> @Sendable () -> Void {
    let session = cancellation()
    return { session?.send() }
  }

  package func noteInterruption() { cancelled = .now }

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

  func known(_ statement: Statement) -> PostgreSQLStatement {
    if let known = statements[statement.text] { return known }
    let known = PostgreSQLStatement(statement.text, number: statements.count)
    statements[known.text] = known
    return known
  }

  /// Comes before the statement's arguments are set, because other statements may run first.
  func pass(_ statement: Statement) throws -> PostgreSQLStatement {
    let known = known(statement)
    try gate?.pass(known.text, &known.effects)
    return known
  }

  /// ``arguments`` must be set before, because their types become the parameters' types.
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

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    PQfinish(handle)
  }
}
