import CloudKitModel

/// An account of this server. A user has one record name in all its containers.
public struct User: Sendable, Hashable {
  public var name: String
  /// `_` and 32 hexadecimal digits.
  public var userRecordName: String
  public var created: Timestamp
  public var profile: UserProfile
  /// Whether the account and all data of the user are being deleted: see ``UserDeletion``.
  public var isBeingDeleted = false

  public init(
    name: String, userRecordName: String, created: Timestamp, profile: UserProfile = UserProfile()
  ) {
    self.name = name
    self.userRecordName = userRecordName
    self.created = created
    self.profile = profile
  }
}
