import CloudKitModel
import StoreModel

/// The store's data on a user's account, except the profile and secrets, for the export that a
/// user can request.
public struct UserHoldings: Sendable, Hashable {
  /// A web auth token that has not expired.
  public struct Token: Sendable, Hashable {
    /// The time at which the server made the token.
    public var created: Timestamp
    /// The time at which the token expires.
    public var expires: Timestamp
    /// The place for which a session's token in a web app is valid; nil for a native client's.
    public var session: ContainerPlace?
  }

  /// An identity at an OpenID Connect issuer with which the user signs in.
  public struct Identity: Sendable, Hashable {
    /// The issuer and its name for the user.
    public var identity: IssuedIdentity
    /// The time of the first sign-in with the identity.
    public var created: Timestamp
  }

  /// A security role that the user was granted.
  public struct Role: Sendable, Hashable {
    /// The container's environment that has the role.
    public var place: ContainerPlace
    /// The role's name.
    public var role: String
  }

  /// A decision of the user about a permission for the app of a container.
  public struct Permission: Sendable, Hashable {
    /// The container and the environment of the app.
    public var place: ContainerPlace
    /// The permission.
    public var permission: ApplicationPermission
    /// The decision.
    public var status: ApplicationPermission.Status
  }

  /// The most tokens in ``tokens``.
  public static let tokenLimit = 1_000

  /// The time of the last change of the password; nil if the user has no password.
  public var passwordChanged: Timestamp?
  /// The identities with which the user signs in.
  public var identities: [Identity]
  /// The web auth tokens that have not expired, at most ``tokenLimit``, the last to expire first.
  public var tokens: [Token]
  /// The roles that the user was granted.
  public var roles: [Role]
  /// The user's decisions for apps.
  public var permissions: [Permission]
}

/// A page of the records of a public database that a user created or last modified.
public struct StampedRecordPage: Sendable, Hashable {
  /// The most records that one call examines.
  public static let budget = 5_000

  /// The records, in the order of their creation; at most as many as the caller requested.
  public var records: [Record]
  /// The number to pass to the next call, which continues the search; nil at the end.
  public var next: Int64?
}

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
