import CloudKitModel
import SQLEngine
import StoreModel

/// The *named* requests, whose IDs clients chose, with the operations that were carried out. A
/// client that gets no answer sends its request again with the same ID. Rows are kept for
/// ``Retention/answeredRequests``.
///
/// `answered` is the time of the latest attempt with operations to carry out. `done` has a byte for
/// each operation: 1 if any attempt carried it out, otherwise 0.
struct AnsweredRequestTable: Table {
  let transaction: StoreTransaction

  static let definition = [
    """
    CREATE TABLE answered_requests (
      database_id BIGINT NOT NULL, requester TEXT NOT NULL, request_id TEXT NOT NULL,
      answered BIGINT NOT NULL, done BYTEA NOT NULL,
      PRIMARY KEY (database_id, requester, request_id))
    """,
    "CREATE INDEX answered_requests_by_age ON answered_requests (answered)",
  ]

  /// The columns besides the key.
  struct Row {
    var done: [UInt8]
    var answered: Timestamp
  }

  /// nil if no operation of the request was carried out yet.
  func done(in request: AnsweredRequest) throws -> [UInt8]? {
    if let known = transaction.writes.answeredRequests[request] { return known.row?.done }
    let row = try transaction.besidesWriteSet {
      try connection.first(sql.attempt, request.key) {
        Row(done: $0.bytes(0), answered: $0.time(1))
      }
    }
    transaction.writes.answeredRequests.note(row, for: request)
    return row?.done
  }

  /// The row replaces that of an earlier attempt.
  func keep(_ done: [UInt8], of request: AnsweredRequest, at timestamp: Timestamp) {
    transaction.writes.answeredRequests.decide(Row(done: done, answered: timestamp), for: request)
  }

  func writeDecided() throws {
    var rows = RowInsertion(sql.keep)
    for (request, _, row) in transaction.writes.answeredRequests.takeChanges() {
      guard let row else { continue }
      try rows.add(in: connection) {
        $0.append(request.database.rawValue)
        $0.append(request.requester)
        $0.append(request.requestID)
        $0.append(row.answered.milliseconds)
        $0.append(bytes: row.done.span.bytes)
      }
    }
    try rows.finish(in: connection)
  }

  /// The oldest first, at most ``Retention/batch``.
  func old(before horizon: Int64) throws -> [AnsweredRequest] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], AnsweredRequest.init(row:))
  }

  func forget(_ requests: [AnsweredRequest]) throws -> Int {
    for request in requests {
      try decide(sql.forget, request.key)
    }
    return requests.count
  }

  struct Statements {
    let attempt: Statement = """
      SELECT done, answered FROM answered_requests
      WHERE database_id = $1 AND requester = $2 AND request_id = $3
      """
    /// The last argument is a number by which the caller recognises the row.
    let attempts = RowQuery([.integer, .text, .text, .integer]) {
      """
      SELECT c4, done, answered FROM \($0)
      LEFT JOIN answered_requests ON database_id = c1 AND requester = c2 COLLATE "C"
        AND request_id = c3 COLLATE "C"
      """
    }
    let keep = RowStatement(
      inserting: "answered_requests (database_id, requester, request_id, answered, done)",
      [.integer, .text, .text, .integer, .bytes],
      tail: """
        ON CONFLICT (database_id, requester, request_id)
        DO UPDATE SET answered = excluded.answered, done = excluded.done
        """)
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
struct AnsweredRequest: InDatabase, Hashable {
  var database: DatabaseID
  var requester: String
  var requestID: String

  fileprivate var key: [SQLValue] {
    [.id(database), .text(requester), .text(requestID)]
  }
}

extension AnsweredRequest {
  init?(of modification: RecordModification) {
    guard let requestID = modification.requestID else { return nil }
    self.init(
      database: modification.database, requester: modification.origin.userRecordName,
      requestID: requestID)
  }

  fileprivate init(row: any SQLRow) {
    self.init(database: row.database(0), requester: row.text(1), requestID: row.text(2))
  }
}
