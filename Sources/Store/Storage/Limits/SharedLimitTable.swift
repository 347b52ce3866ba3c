import CloudKitModel
import SQLEngine
import StoreModel

/// The limits that the servers of a store count together (`SharedLimits`): requests, and attempts
/// to sign in. On a store for one server the tables are empty.
///
/// A *subject* of a limit is a caller, an account, a network address, or an account at a network
/// address.
///
/// `request_allowances` has a *token bucket* for each caller: a number of permitted requests that
/// rises with time, up to the bucket's capacity. A *draw* takes requests out of a bucket.
/// `sign_in_attempts` has the recent wrong attempts of each subject.
///
/// `full_at` is the time at which a bucket is full if no server draws from it. This time is the
/// whole state of the bucket (the "theoretical arrival time" of the generic cell rate algorithm,
/// ITU-T I.371). For example, a bucket gains a request in each second, and its capacity is 10. A
/// draw of 4 requests from the full bucket at the time *t* makes the bucket full again at *t* + 4
/// s. A second draw at *t* + 1 s finds 7 requests.
///
/// `/*unlogged*/` marks tables whose rows need not survive a crash of the database server. The
/// statements are for PostgreSQL, because stores on other engines have one server only.
struct SharedLimitTable: Table {
  let transaction: StoreTransaction

  /// `subject` is the first 16 bytes of a SHA-256 hash (`LimitSubject`). `full_at` and `drawn` are
  /// in nanoseconds since 1970, `last_attempt` in milliseconds. `drawn` and `granted` are the time
  /// and the number of requests of the last draw. `wrong` is the number of failed attempts and
  /// attempts under way.
  static let definition = [
    """
    CREATE /*unlogged*/ TABLE request_allowances (
      subject BYTEA PRIMARY KEY, full_at BIGINT NOT NULL, drawn BIGINT NOT NULL,
      granted BIGINT NOT NULL)
    """,
    """
    CREATE /*unlogged*/ TABLE sign_in_attempts (
      subject BYTEA PRIMARY KEY, wrong BIGINT NOT NULL, last_attempt BIGINT NOT NULL)
    """,
  ]

  /// In nanoseconds since 1970: the time that a test passes, or that of the database's clock.
  private static func time(_ argument: String) -> String {
    "COALESCE(\(argument), (EXTRACT(EPOCH FROM statement_timestamp()) * 1000000000)::BIGINT)"
  }

  private func time() throws -> Int64 {
    if let steered = transaction.context.steeredTime?() { return steered }
    return try connection.integer(sql.time, []) ?? 0
  }

  private var steeredTimeArgument: SQLValue { SQLValue(transaction.context.steeredTime?()) }

  // MARK: Requests

  /// The content of an existing bucket at the time of a draw, in nanoseconds: the number of
  /// requests multiplied by `$2`, the time in which a bucket gains one. `$3` is the time in which
  /// an empty bucket becomes full.
  private static let content =
    "LEAST($3, GREATEST(0, excluded.drawn + $3 - request_allowances.full_at))"
  /// The number of requests that a draw from an existing bucket gets, as
  /// `AllowanceDraw.granted(of:)` computes it. `$4` is the number of requests that wait at the
  /// server, and `$5` is the number of further requests that the server wants to reserve.
  private static let granted =
    "LEAST(\(content) / $2, GREATEST($4, LEAST($4 + $5, \(content) / $2 / 2)))"

  /// The most nanoseconds by which the stored last draw may be later than the present one: 10 s.
  ///
  /// A draw reads the clock before it waits for the row, so another draw with a later time may come
  /// first. If the difference is greater, the clock was set back since the row was written.
  private static let disorder: Int64 = 10_000_000_000

  /// Draws requests from a bucket by one statement, which is a transaction by itself.
  func draw(_ draw: AllowanceDraw) throws -> Allowance {
    let allowance = try connection.first(
      sql.draw,
      [
        .bytes(draw.subject.hash), .integer(draw.interval), .integer(draw.filling),
        .integer(draw.needed), .integer(draw.extra), .integer(draw.granted(of: draw.capacity)),
        steeredTimeArgument,
      ]
    ) { Allowance(granted: $0.integer(0), fullIn: $0.integer(1)) }
    guard let allowance else { throw StoreError(.corrupt, "a draw of requests left no row") }
    return allowance
  }

  // MARK: Attempts to sign in

  /// Reads the histories of wrong attempts of these subjects, and stores them as `decide` has
  /// changed them. Call the method in a transaction.
  ///
  /// The first statements lock the subjects' rows, and create missing rows. An attempt on another
  /// server that has one of these subjects therefore waits for the commit.
  ///
  /// - Parameter decide: gets the histories in the order of `subjects`, and the present time. A
  ///   history is nil for a subject without wrong attempts. The method deletes a history that is
  ///   nil or has 0 wrong attempts.
  func attempt<Verdict>(
    by subjects: [LimitSubject],
    _ decide: (inout [AttemptHistory?], Timestamp) -> Verdict
  ) throws -> Verdict {
    // All attempts lock the rows in the order of the hashes, so that two attempts do not deadlock.
    for subject in subjects.sorted(by: { $0.hash.lexicographicallyPrecedes($1.hash) }) {
      try connection.run(sql.hold, [.bytes(subject.hash)])
    }
    let now = Timestamp(milliseconds: try time() / 1_000_000)
    var histories = try subjects.map { subject in
      try connection.first(sql.attempts, [.bytes(subject.hash)]) {
        AttemptHistory(wrong: $0.count(0), last: $0.time(1))
      }
    }
    let verdict = decide(&histories, now)
    for (subject, history) in zip(subjects, histories) {
      if let history, history.wrong > 0 {
        try connection.run(
          sql.setAttempts, [.bytes(subject.hash), .count(history.wrong), .time(history.last)])
      } else {
        try connection.run(sql.removeAttempts, [.bytes(subject.hash)])
      }
    }
    return verdict
  }

  // MARK: Sweeping

  /// In seconds. Servers ignore a history after one hour.
  private static let attemptsKept: Int64 = 7200
  /// The most histories of attempts, so that attempts with ever new names do not fill the table. A
  /// sweep deletes the histories beyond, those whose last attempt is oldest.
  private static let attemptLimit: Int64 = 100_000
  private static let sweptRows: Int64 = 10_000

  /// Deletes full buckets and old histories of attempts, at most ``sweptRows`` by each statement. A
  /// subject without a row has a full bucket. Two servers may sweep at the same time.
  func sweep() throws {
    let now = try time()
    // A concurrent draw may change a bucket that the inner selection has found. PostgreSQL then
    // evaluates the outer condition again, so the bucket stays.
    try connection.run(sql.sweepAllowances, [.integer(now), .integer(Self.sweptRows)])
    try connection.run(
      sql.sweepAttempts,
      [.integer(now / 1_000_000 - Self.attemptsKept * 1000), .integer(Self.sweptRows)])
    try connection.run(sql.limitAttempts, [.integer(Self.attemptLimit), .integer(Self.sweptRows)])
  }

  struct Statements {
    /// A subject without a row has a full bucket. The statement then inserts a row; `$6` is the
    /// number of requests that a draw gets from a full bucket. If there is a row, the conflict
    /// clause locks it and computes the number from it, so draws of several servers never get the
    /// same request.
    ///
    /// An empty bucket has a `full_at` of at most the draw's time and `$3`. If `full_at` is later
    /// by more than ``disorder``, the clock was set back, and the bucket counts as empty.
    let draw = """
      INSERT INTO request_allowances (subject, full_at, drawn, granted)
      VALUES ($1, \(SharedLimitTable.time("$7")) + $6 * $2, \(SharedLimitTable.time("$7")), $6)
      ON CONFLICT (subject) DO UPDATE SET
        full_at = \(granted) * $2 + GREATEST(excluded.drawn,
          CASE WHEN request_allowances.full_at > excluded.drawn + $3 + \(disorder)
            THEN excluded.drawn + $3 ELSE request_allowances.full_at END),
        drawn = excluded.drawn, granted = \(granted)
      RETURNING granted, full_at - drawn
      """.except(.onPostgreSQL)
    let time = Statement("SELECT \(SharedLimitTable.time("NULL"))", .onPostgreSQL)
    let hold: Statement = """
      INSERT INTO sign_in_attempts (subject, wrong, last_attempt) VALUES ($1, 0, 0)
      ON CONFLICT (subject) DO UPDATE SET wrong = sign_in_attempts.wrong
      """
    let attempts: Statement =
      "SELECT wrong, last_attempt FROM sign_in_attempts WHERE subject = $1 AND wrong > 0"
    let setAttempts: Statement =
      "UPDATE sign_in_attempts SET wrong = $2, last_attempt = $3 WHERE subject = $1"
    let removeAttempts: Statement = "DELETE FROM sign_in_attempts WHERE subject = $1"
    let sweepAllowances = """
      DELETE FROM request_allowances WHERE full_at <= $1 AND subject IN (
        SELECT subject FROM request_allowances WHERE full_at <= $1 LIMIT $2)
      """.except(.wholeTable)
    let sweepAttempts = """
      DELETE FROM sign_in_attempts WHERE last_attempt <= $1 AND subject IN (
        SELECT subject FROM sign_in_attempts WHERE last_attempt <= $1 LIMIT $2)
      """.except(.wholeTable)
    let limitAttempts = """
      DELETE FROM sign_in_attempts WHERE subject IN (
        SELECT subject FROM sign_in_attempts ORDER BY last_attempt DESC OFFSET $1 LIMIT $2)
      """.except([.onPostgreSQL, .wholeTable])
  }
  static let sql = Statements()
}
