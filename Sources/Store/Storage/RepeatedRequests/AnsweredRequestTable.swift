import CloudKitModel
import SQLEngine
import StoreModel

/// The operations of named requests that were carried out.
///
/// A client that gets no answer sends its request again, with the same ID. The table shows which
/// operations the first attempt carried out. Rows are kept for ``Retention/answeredRequests``.
///
/// `answered` is the time of the latest attempt, in milliseconds since 1970. `done` has a byte for
/// each operation.
struct AnsweredRequestTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

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

  /// Returns a byte for each operation of a request: 1 if it was carried out and 0 if not. It is
  /// nil if the request was not answered.
  func done(in request: AnsweredRequest) throws -> [UInt8]? {
    try connection.first(
      """
      SELECT done FROM answered_requests
      WHERE database_id = $1 AND requester = $2 AND request_id = $3
      """, request.key
    ) { $0.bytes(0) }
  }

  /// Stores which operations of a request were carried out. It replaces what an earlier attempt
  /// stored.
  func keep(_ done: [UInt8], of request: AnsweredRequest, at timestamp: Timestamp) throws {
    try connection.run(
      """
      INSERT INTO answered_requests (database_id, requester, request_id, answered, done)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, requester, request_id)
      DO UPDATE SET answered = excluded.answered, done = excluded.done
      """, request.key + [.integer(timestamp.milliseconds), .bytes(done)])
  }

  /// Returns requests that were answered before a time, the oldest first, at most
  /// ``Retention/batch``.
  ///
  /// - Parameter horizon: the time in milliseconds since 1970.
  func old(before horizon: Int64) throws -> [AnsweredRequest] {
    try connection.rows(
      """
      SELECT database_id, requester, request_id FROM answered_requests WHERE answered < $1
      ORDER BY answered LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], AnsweredRequest.init(row:))
  }

  /// Deletes answered requests, and returns their number.
  func forget(_ requests: [AnsweredRequest]) throws -> Int {
    for request in requests {
      try connection.run(
        """
        DELETE FROM answered_requests
        WHERE database_id = $1 AND requester = $2 AND request_id = $3
        """,
        request.key)
    }
    return requests.count
  }
}

/// The identity of an answered request. Users choose their request IDs independently.
struct AnsweredRequest: InDatabase {
  var database: DatabaseID
  /// The record name of the user who made the request.
  var requester: String
  /// The ID that the client chose.
  var requestID: String

  /// The arguments for the primary key.
  fileprivate var key: [SQLValue] {
    [.integer(database.rawValue), .text(requester), .text(requestID)]
  }
}

extension AnsweredRequest {
  /// Reads database, requester and request ID.
  fileprivate init(row: any SQLRow) {
    self.init(
      database: DatabaseID(rawValue: row.integer(0)), requester: row.text(1),
      requestID: row.text(2))
  }
}
