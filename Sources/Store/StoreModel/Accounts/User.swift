import CloudKitModel

/// An account of this server.
///
/// `name` identifies the user to people and in commands. `userRecordName` identifies the user in
/// the protocol and in the store; it is the same in all containers and never changes.
public struct User: Sendable, Hashable {
  /// The account's name, which is unique in the store. The user signs in with it.
  public var name: String
  /// The user record name: `_` and 32 hexadecimal digits in lower case.
  public var userRecordName: String
  /// The time of the account's creation.
  public var created: Timestamp
  /// The user's names and addresses.
  public var profile: UserProfile
  /// Whether the account and all data of the user are being deleted: see ``UserDeletion``.
  public var isBeingDeleted = false

  /// Creates a value that describes an account. Only ``AccountStore/addUser(named:profile:at:)``
  /// creates an account in the store.
  public init(
    name: String, userRecordName: String, created: Timestamp, profile: UserProfile = UserProfile()
  ) {
    self.name = name
    self.userRecordName = userRecordName
    self.created = created
    self.profile = profile
  }
}
