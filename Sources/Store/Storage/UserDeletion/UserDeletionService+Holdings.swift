import CloudKitModel
import SQLEngine
import StoreModel

extension UserDeletionService {
  /// Returns the data of a user that the store has outside of databases, such as identities, tokens
  /// and roles.
  ///
  /// - Parameter timestamp: the present time. Tokens that have expired by then are left out.
  func holdings(
    of userRecordName: String, at timestamp: Timestamp
  ) async throws -> UserHoldings {
    try await transactions.read { transaction in
      UserHoldings(
        passwordChanged: try PasswordTable(transaction: transaction).changed(of: userRecordName),
        identities: try UserIdentityTable(transaction: transaction).identities(of: userRecordName),
        tokens: try WebAuthTokenTable(transaction: transaction).tokens(
          of: userRecordName, at: timestamp),
        roles: try RoleTable(transaction: transaction).roles(of: userRecordName),
        permissions: try ApplicationPermissionTable(transaction: transaction)
          .permissions(of: userRecordName))
    }
  }

  /// Returns records of a database that a user created or modified last. There is no index for
  /// that, so a call scans up to `StampedRecordPage.budget` records.
  ///
  /// - Parameters:
  ///   - number: the record number after which the page begins; 0 for the first page.
  ///   - limit: the most records that a call examines more closely because they contain the user's
  ///     name anywhere. The page has only those that the user created or modified last.
  /// - Returns: a page, and the number after which the next one begins; nil at the end.
  func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage {
    try await transactions.read { transaction in
      let records = RecordTable(transaction: transaction)
      let batch = try records.naming(
        userRecordName, after: number, examining: Int64(StampedRecordPage.budget),
        limit: Int64(limit), in: database)
      guard let batch else { return StampedRecordPage(records: [], next: nil) }
      return StampedRecordPage(
        records: try batch.found.map { try records.record(numbered: $0, in: database).record }
          .filter { $0.hasStamp(of: userRecordName) },
        next: batch.end)
    }
  }
}
