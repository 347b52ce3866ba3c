import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func holdings(
    of userRecordName: String, at timestamp: Timestamp
  ) async throws -> UserHoldings {
    try await read { transaction in
      UserHoldings(
        passwordChanged: try PasswordTable(transaction: transaction).changed(of: userRecordName),
        identities: try UserIdentityTable(transaction: transaction).identities(of: userRecordName),
        tokens: try WebAuthTokenTable(transaction: transaction).tokens(
          of: userRecordName, at: timestamp),
        roles: try transaction.connection.rows(
          """
          SELECT container, environment, role FROM role_members WHERE user_record_name = $1
          ORDER BY container, environment, role
          """, [.text(userRecordName)]
        ) { UserHoldings.Role(place: try ContainerPlace(row: $0), role: $0.text(2)) },
        permissions: try ApplicationPermissionTable(transaction: transaction)
          .permissions(of: userRecordName))
    }
  }

  public func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage {
    try await read { transaction in
      let place = SQLValue.integer(database.rawValue)
      let end =
        try transaction.connection.first(
          """
          SELECT MAX(record_number) FROM (
            SELECT record_number FROM records WHERE database_id = $1 AND record_number > $2
            ORDER BY record_number LIMIT $3) AS batch
          """, [place, .integer(number), .integer(Int64(StampedRecordPage.budget))]
        ) { $0.optionalInteger(0) } ?? nil
      guard let end else { return StampedRecordPage(records: [], next: nil) }
      let found = try transaction.connection.rows(
        StoredRecord.selection + """
           WHERE database_id = $1 AND record_number > $2 AND record_number <= $3
            AND \(transaction.contentHolds("$4")) ORDER BY record_number LIMIT $5
          """,
        [
          place, .integer(number), .integer(end), .bytes(Array(userRecordName.utf8)),
          .integer(Int64(limit)),
        ], StoredRecord.Row.init
      ).map { try RecordTable(transaction: transaction).record($0, in: database) }
      return StampedRecordPage(
        records: found.map(\.record).filter { $0.hasStamp(of: userRecordName) },
        next: found.count == limit ? found.last?.number : end)
    }
  }
}

extension StoreTransaction {
  /// A condition for rows whose contents have these bytes in a row somewhere.
  func contentHolds(_ parameter: String) -> String {
    connection.contains(parameter, in: "content")
  }
}
