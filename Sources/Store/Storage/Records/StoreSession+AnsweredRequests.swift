import CloudKitModel
import StoreModel

extension Schema {
  /// Which operations of named requests were carried out.
  static let answeredRequests = [
    """
    CREATE TABLE answered_requests (
      database_id BIGINT NOT NULL, requester TEXT NOT NULL, request_id TEXT NOT NULL,
      answered BIGINT NOT NULL, done BYTEA NOT NULL,
      PRIMARY KEY (database_id, requester, request_id))
    """,
    "CREATE INDEX answered_requests_by_age ON answered_requests (answered)",
  ]
}

extension StoreSession {
  /// Carries out a modification, but of one that bears the name of an earlier one only what that
  /// did not.
  ///
  /// What is remembered is which operations succeeded, in the transaction of the change itself; the
  /// records of an answer are read anew.
  func modifyOnce(_ prepared: PreparedModification) throws -> ModificationOutcomes {
    let modification = prepared.request
    guard let requestID = modification.requestID else { return try modify(prepared) }
    let key: [SQLValue] = [
      .integer(modification.database.rawValue), .text(modification.origin.userRecordName),
      .text(requestID),
    ]
    let operations = modification.operations
    var done =
      try connection.first(
        """
        SELECT done FROM answered_requests
        WHERE database_id = $1 AND requester = $2 AND request_id = $3
        """, key
      ) { $0.bytes(0) } ?? [UInt8](repeating: 0, count: operations.count)
    guard done.count == operations.count else {
      let failure = ItemFailure(
        .invalid, field: "requestID",
        "request ID '\(requestID)' was used for a request of \(done.count) operations; this one "
          + "has \(operations.count)")
      return ModificationOutcomes(operations.map { _ in .failed(failure) })
    }
    let remaining = operations.indices.filter { done[$0] == 0 }
    var rest = prepared
    rest.request.operations = remaining.map { operations[$0] }
    if !prepared.creations.isEmpty {
      rest.creations = remaining.map { prepared.creations[$0] }
    }
    var fresh =
      (remaining.isEmpty
      ? []
      : try modify(rest).told(
        by: rest.creations, in: modification.database, tags: changeTags))[...]
    let outcomes = try operations.indices.map { index in
      guard done[index] == 0, let outcome = fresh.popFirst() else {
        return try repeatedOutcome(of: operations[index], in: modification)
      }
      if !outcome.isFailure { done[index] = 1 }
      return outcome
    }
    guard done.contains(1), !remaining.isEmpty else { return ModificationOutcomes(outcomes) }
    try connection.run(
      """
      INSERT INTO answered_requests (database_id, requester, request_id, answered, done)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, requester, request_id)
      DO UPDATE SET answered = excluded.answered, done = excluded.done
      """, key + [.integer(modification.timestamp.milliseconds), .bytes(done)])
    return ModificationOutcomes(outcomes)
  }

  private func modify(_ modification: PreparedModification) throws -> ModificationOutcomes {
    var change = try RecordModifier(modification, session: self)
    return try change.run()
  }

  /// The outcome of an operation that an earlier request carried out.
  private func repeatedOutcome(
    of operation: RecordOperation, in modification: RecordModification
  ) throws -> RecordOutcome {
    let database = modification.database
    let address = try DatabaseTable(session: self).address(of: database)
    var recordID = operation.recordID
    recordID.zoneID = address.canonical(recordID.zoneID)
    switch operation.kind {
    case .delete, .forceDelete:
      return .deleted(recordID)
    case .create, .update, .replace, .forceUpdate, .forceReplace:
      if let zoneNumber = try ZoneTable(session: self).number(of: recordID.zoneID, in: database),
        let stored = try storedRecord(
          named: recordID.recordName, inZone: zoneNumber, of: database)
      {
        // Somebody else may have made a record of that name since, and grants may have changed.
        let access =
          modification.appliesGrants
          ? try access(
            of: modification.origin.userRecordName, toType: stored.record.recordType, at: address)
          : .full
        guard access.mayRead(stored.record) else {
          return .failed(
            ItemFailure(
              .accessDenied,
              "record '\(recordID)' was saved, and cannot be read by now: no role of this caller has "
                + "READ for it"))
        }
        return .saved(stored.record)
      }
      return .failed(
        ItemFailure(.notFound, "record '\(recordID)' was saved, and has been deleted since"))
    }
  }

  func answeredRequests(before horizon: Int64) throws -> [AnsweredRequest] {
    try connection.rows(
      """
      SELECT database_id, requester, request_id FROM answered_requests WHERE answered < $1
      ORDER BY answered LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], AnsweredRequest.init(row:))
  }

  /// Forgets that requests were answered, and tells how many.
  func forget(_ requests: [AnsweredRequest]) throws -> Int {
    for request in requests {
      try connection.run(
        """
        DELETE FROM answered_requests
        WHERE database_id = $1 AND requester = $2 AND request_id = $3
        """,
        [
          .integer(request.database.rawValue), .text(request.requester),
          .text(request.requestID),
        ])
    }
    return requests.count
  }
}

/// The name of a request that was answered.
struct AnsweredRequest: InDatabase {
  var database: DatabaseID
  var requester: String
  var requestID: String

  fileprivate init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    requester = row.text(1)
    requestID = row.text(2)
  }
}
