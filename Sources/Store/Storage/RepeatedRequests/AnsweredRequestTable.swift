import CloudKitModel
import SQLEngine
import StoreModel

/// The table of named requests, with the operations that were carried out. A *named* request is one
/// with an ID, which the client chose.
///
/// A client that gets no answer sends its request again, with the same ID. The table shows which
/// operations earlier attempts carried out. Rows are kept for ``Retention/answeredRequests``.
///
/// `answered` is the time of the latest attempt that still had operations to carry out, in
/// milliseconds since 1970. `done` has a byte for each operation: 1 if it was carried out,
/// otherwise 0.
struct AnsweredRequestTable: Table {
  let transaction: StoreTransaction

  /// The table of requests, with the index by which maintenance finds old ones.
  static let definition = [
    """
    CREATE TABLE answered_requests (
      database_id BIGINT NOT NULL, requester TEXT NOT NULL, request_id TEXT NOT NULL,
      answered BIGINT NOT NULL, done BYTEA NOT NULL,
      PRIMARY KEY (database_id, requester, request_id))
    """,
    "CREATE INDEX answered_requests_by_age ON answered_requests (answered)",
  ]

  /// Returns the column `done` of a request: 1 for each operation that was carried out, 0 for the
  /// others. The result is nil if no operation of the request was carried out yet.
  func done(in request: AnsweredRequest) throws -> [UInt8]? {
    try connection.first(Self.sql.done, request.key) { $0.bytes(0) }
  }

  /// Stores which operations of a request were carried out, and when. A row of an earlier attempt
  /// is replaced.
  ///
  /// - Parameter done: 1 for each operation that any attempt carried out, 0 for the others.
  func keep(_ done: [UInt8], of request: AnsweredRequest, at timestamp: Timestamp) throws {
    try connection.run(
      Self.sql.keep, request.key + [.integer(timestamp.milliseconds), .bytes(done)])
  }

  /// Returns requests that were answered before a time, the oldest first, at most
  /// ``Retention/batch``.
  ///
  /// - Parameter horizon: the time in milliseconds since 1970.
  func old(before horizon: Int64) throws -> [AnsweredRequest] {
    try connection.rows(
      Self.sql.old, [.integer(horizon), .integer(Retention.batch)], AnsweredRequest.init(row:))
  }

  func forget(_ requests: [AnsweredRequest]) throws -> Int {
    for request in requests {
      try connection.run(Self.sql.forget, request.key)
    }
    return requests.count
  }

  struct Statements {
    let done: Statement = """
      SELECT done FROM answered_requests
      WHERE database_id = $1 AND requester = $2 AND request_id = $3
      """
    let keep: Statement = """
      INSERT INTO answered_requests (database_id, requester, request_id, answered, done)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, requester, request_id)
      DO UPDATE SET answered = excluded.answered, done = excluded.done
      """
    let old = """
      SELECT database_id, requester, request_id FROM answered_requests WHERE answered < $1
      ORDER BY answered LIMIT $2
      """.except(.everyDatabase)
    let forget: Statement =
      "DELETE FROM answered_requests WHERE database_id = $1 AND requester = $2 AND request_id = $3"
  }
  static let sql = Statements()
}

/// The key of a request in ``AnsweredRequestTable``. Two users may choose the same request ID.
struct AnsweredRequest: InDatabase {
  var database: DatabaseID
  /// The record name of the user who made the request.
  var requester: String
  /// The ID that the client chose.
  var requestID: String

  /// The arguments for the primary key.
  fileprivate var key: [SQLValue] {
    [.id(database), .text(requester), .text(requestID)]
  }
}

extension AnsweredRequest {
  /// Reads the columns of the key: database, requester and request ID.
  fileprivate init(row: any SQLRow) {
    self.init(
      database: DatabaseID(rawValue: row.integer(0)), requester: row.text(1),
      requestID: row.text(2))
  }
}
