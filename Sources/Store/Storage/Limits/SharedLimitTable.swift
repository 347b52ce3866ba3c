import CloudKitModel
import SQLEngine
import StoreModel

/// The limits that servers of a store count together; see ``SharedLimits``. On a store for one
/// server the tables are empty. A row's key is only its subject's hash.
///
/// `request_allowances` has a token bucket for each caller, `sign_in_attempts` the recent wrong
/// attempts of each subject.
///
/// `full_at` is the time, in nanoseconds since 1970, at which a bucket is full if no server draws
/// from it. This time is the whole state of the bucket (the "theoretical arrival time" of the
/// generic cell rate algorithm, ITU-T I.371). `drawn` and `granted` describe the last draw.
///
/// For example, a bucket gains a request in each second and holds 10. A full bucket that gives 4
/// requests at the time *t* is full again at *t* + 4 s. A second draw at *t* + 1 s finds 7
/// requests.
///
/// `/*unlogged*/` marks tables whose rows need not survive a crash.
///
/// The engine is PostgreSQL: no other store has several servers.
struct SharedLimitTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `subject` has 16 bytes of a SHA-256 hash (``LimitSubject``). `full_at` and `drawn` are in
  /// nanoseconds since 1970, `last_attempt` is in milliseconds. `wrong` counts failed attempts and
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

  /// Nanoseconds since 1970 by the database's clock, or the argument with which tests replace it.
  private static func time(_ argument: String) -> String {
    "COALESCE(\(argument), (EXTRACT(EPOCH FROM statement_timestamp()) * 1000000000)::BIGINT)"
  }

  /// Nanoseconds since 1970 by the same clock, read by a statement.
  private func time() throws -> Int64 {
    if let steered = transaction.context.steeredTime?() { return steered }
    return try connection.first("SELECT \(Self.time("NULL"))", []) { $0.integer(0) } ?? 0
  }

  /// The time that tests set; null to use the database's clock.
  private var steeredTimeArgument: SQLValue { SQLValue(transaction.context.steeredTime?()) }

  // MARK: Requests

  /// The content of a bucket, and a draw's grant (``AllowanceDraw/granted(of:)``), computed from
  /// the row and the draw's time.
  ///
  /// The arguments: `$2` is the interval of one request, `$3` the time in which an empty bucket
  /// fills, both in nanoseconds. `$4` is the number of waiting requests, `$5` the number of extra
  /// ones.
  private static let content =
    "LEAST($3, GREATEST(0, excluded.drawn + $3 - request_allowances.full_at))"
  /// The number of requests that a draw from an existing bucket gets.
  private static let granted =
    "LEAST(\(content) / $2, GREATEST($4, LEAST($4 + $5, \(content) / $2 / 2)))"

  /// Nanoseconds by which the last draw may be later than this one, whose time was taken before it
  /// waited for the row. A later row was written before the clock was set back.
  private static let disorder: Int64 = 10_000_000_000

  /// The statement that draws from a bucket, by one row's key.
  ///
  /// A subject without a row has a full bucket: the row is inserted with the grant `$6` of a full
  /// one. For an existing row, the conflict clause computes the grant from the row that it has
  /// locked. So draws of several servers never give out the same request. A `full_at` beyond a full
  /// bucket and ``disorder`` comes from a clock that was set back; the bucket then counts as empty.
  private static let drawing = """
    INSERT INTO request_allowances (subject, full_at, drawn, granted)
    VALUES ($1, \(time("$7")) + $6 * $2, \(time("$7")), $6)
    ON CONFLICT (subject) DO UPDATE SET
      full_at = \(granted) * $2 + GREATEST(excluded.drawn,
        CASE WHEN request_allowances.full_at > excluded.drawn + $3 + \(disorder)
          THEN excluded.drawn + $3 ELSE request_allowances.full_at END),
      drawn = excluded.drawn, granted = \(granted)
    RETURNING granted, full_at - drawn
    """

  /// Draws requests from a bucket by one statement, which is a transaction by itself.
  ///
  /// - Returns: the number of granted requests, and the nanoseconds until the bucket is full.
  /// - Throws: ``StoreError/Code/corrupt`` if the statement returns no row.
  func draw(_ draw: AllowanceDraw) throws -> Allowance {
    let allowance = try connection.first(
      Self.drawing,
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

  /// Reads the histories of subjects, decides, and writes the changed histories. Call it in a
  /// transaction.
  ///
  /// The first statements lock the subjects' rows, and create missing ones. So another server's
  /// attempt for a common subject waits for the commit.
  ///
  /// - Parameters:
  ///   - subjects: the subjects of the attempt.
  ///   - decide: gets the histories in the order of `subjects`, nil for a subject without wrong
  ///     attempts, and the present time. A history that it sets to nil is deleted.
  /// - Returns: the result of `decide`.
  func attempt<Verdict>(
    by subjects: [LimitSubject],
    _ decide: (inout [AttemptHistory?], Timestamp) -> Verdict
  ) throws -> Verdict {
    // In one order, so that two attempts with the same subjects do not deadlock.
    for subject in subjects.sorted(by: { $0.hash.lexicographicallyPrecedes($1.hash) }) {
      try connection.run(
        """
        INSERT INTO sign_in_attempts (subject, wrong, last_attempt) VALUES ($1, 0, 0)
        ON CONFLICT (subject) DO UPDATE SET wrong = sign_in_attempts.wrong
        """, [.bytes(subject.hash)])
    }
    let now = Timestamp(milliseconds: try time() / 1_000_000)
    var histories = try subjects.map { subject in
      try connection.first(
        "SELECT wrong, last_attempt FROM sign_in_attempts WHERE subject = $1 AND wrong > 0",
        [.bytes(subject.hash)]
      ) { AttemptHistory(wrong: Int($0.integer(0)), last: Timestamp(milliseconds: $0.integer(1))) }
    }
    let verdict = decide(&histories, now)
    for (subject, history) in zip(subjects, histories) {
      if let history, history.wrong > 0 {
        try connection.run(
          "UPDATE sign_in_attempts SET wrong = $2, last_attempt = $3 WHERE subject = $1",
          [
            .bytes(subject.hash), .integer(Int64(history.wrong)),
            .integer(history.last.milliseconds),
          ])
      } else {
        try connection.run(
          "DELETE FROM sign_in_attempts WHERE subject = $1", [.bytes(subject.hash)])
      }
    }
    return verdict
  }

  // MARK: Sweeping

  /// Seconds after which an attempt is deleted: longer than any server considers it.
  private static let attemptsKept: Int64 = 7200
  /// The most subjects of attempts; beyond it, those without attempts for longest are deleted. So
  /// attempts with ever new names do not fill the table.
  private static let attemptLimit: Int64 = 100_000
  /// The most rows that one sweep deletes.
  private static let sweptRows: Int64 = 10_000

  /// Deletes full buckets, which equal missing ones, and old attempts.
  ///
  /// Each statement deletes at most ``sweptRows`` rows. Two servers may sweep at the same time.
  func sweep() throws {
    let now = try time()
    // A concurrent draw makes the bucket no longer full: the outer condition is then evaluated
    // again.
    try connection.run(
      """
      DELETE FROM request_allowances WHERE full_at <= $1 AND subject IN (
        SELECT subject FROM request_allowances WHERE full_at <= $1 LIMIT $2)
      """, [.integer(now), .integer(Self.sweptRows)])
    try connection.run(
      """
      DELETE FROM sign_in_attempts WHERE last_attempt <= $1 AND subject IN (
        SELECT subject FROM sign_in_attempts WHERE last_attempt <= $1 LIMIT $2)
      """,
      [.integer(now / 1_000_000 - Self.attemptsKept * 1000), .integer(Self.sweptRows)])
    try connection.run(
      """
      DELETE FROM sign_in_attempts WHERE subject IN (
        SELECT subject FROM sign_in_attempts ORDER BY last_attempt DESC OFFSET $1 LIMIT $2)
      """, [.integer(Self.attemptLimit), .integer(Self.sweptRows)])
  }
}
