import CloudKitModel
import SQLEngine
import StoreModel

/// What servers that share the store count together; see ``SharedLimits``. Where they do not, the
/// tables are empty. A row has its subject's hash alone for its key.
///
/// `full_at` is the time, in nanoseconds since 1970, at which a bucket is full when nobody takes of
/// it: it tells all that is to know of the bucket (the "theoretical arrival time" of the generic
/// cell rate algorithm, ITU-T I.371). `drawn` and `granted` are of the last draw.
///
/// `/*unlogged*/` marks tables whose rows are of no worth after a crash.
///
/// The engine is PostgreSQL: no other store has several servers.
struct SharedLimitTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

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

  /// Nanoseconds since 1970 by the clock of the database, or the argument that tests put in its place.
  private static func time(_ argument: String) -> String {
    "COALESCE(\(argument), (EXTRACT(EPOCH FROM statement_timestamp()) * 1000000000)::BIGINT)"
  }

  /// The same time as the transaction itself needs it.
  private func time() throws -> Int64 {
    if let steered = transaction.context.steeredTime?() { return steered }
    return try connection.first("SELECT \(Self.time("NULL"))", []) { $0.integer(0) } ?? 0
  }

  private var steeredTimeArgument: SQLValue { SQLValue(transaction.context.steeredTime?()) }

  // MARK: Requests

  /// The room in a bucket, and what a draw gets of it (``AllowanceDraw/granted(of:)``), by the row and
  /// the time of a draw that meets it.
  private static let room =
    "LEAST($3, GREATEST(0, excluded.drawn + $3 - request_allowances.full_at))"
  private static let granted =
    "LEAST(\(room) / $2, GREATEST($4, LEAST($4 + $5, \(room) / $2 / 2)))"

  /// Nanoseconds that the last draw may have been later, by a time that was taken before waiting for
  /// it. A row of later than that is from before the clock was set back.
  private static let disorder: Int64 = 10_000_000_000

  /// One row, by its key.
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

  func attempt<Verdict>(
    by subjects: [LimitSubject],
    _ decide: (inout [AttemptHistory?], Timestamp) -> Verdict
  ) throws -> Verdict {
    // In an order, so that two that have the same subjects do not wait for each other.
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

  /// Seconds after which an attempt to sign in is forgotten: longer than anybody remembers it for.
  private static let attemptsKept: Int64 = 7200
  /// Subjects of attempts at most; of more, those are forgotten that were quiet for longest.
  private static let attemptLimit: Int64 = 100_000
  /// Rows at most that one sweep deletes.
  private static let sweptRows: Int64 = 10_000

  /// Deletes buckets that are full, which are as good as none, and attempts of long ago.
  func sweep() throws {
    let now = try time()
    // Who draws meanwhile makes the row one that stays: the outer condition is looked at again then.
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
