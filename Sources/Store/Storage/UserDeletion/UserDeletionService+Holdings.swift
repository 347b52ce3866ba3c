import CloudKitModel
import SQLEngine
import StoreModel

extension UserDeletionService {
  /// The data on a user's account, empty for an unknown user.
  public func holdings(
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

  /// A page of the records of a public database that the user created or last modified, in the
  /// order of their creation, whatever the user's rights are.
  ///
  /// - Parameter number: ``StampedRecordPage/next`` of the previous page; 0 for the first.
  /// - Complexity: O(*n*) for all pages together, where *n* is the number of records in the
  ///   database. One call examines at most ``StampedRecordPage/budget`` records.
  public func records(
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
