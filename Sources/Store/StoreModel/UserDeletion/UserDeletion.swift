import CloudKitModel

/// The deletion of a user with all the user's data: the account, private databases, assets,
/// subscriptions, devices, notifications.
///
/// A deletion begins with a transaction after which the user can do nothing any more. The data is
/// removed in steps of bounded size, each a transaction of its own. Each step stores the deletion's
/// progress in its transaction. Any process that has the store open can continue the deletion, and
/// several may do so at the same time.
public struct UserDeletion: Sendable, Hashable {
  /// The treatment of records in public databases that the user created.
  public enum PublicRecords: String, Sendable, Hashable, CaseIterable {
    /// Records stay, and ``UserIdentity/deletedUserRecordName`` replaces the user in their stamps.
    case keep
    /// Records are deleted as by any change. Records of others that the user modified get an
    /// anonymous stamp of modification.
    case delete
  }

  /// The stages of a deletion, in order.
  public enum Stage: Int64, Sendable, Hashable, CaseIterable {
    /// The user's rows in public databases except records: uploads, change tokens, named requests.
    case publicRows = 1
    /// Subscriptions in public databases.
    case subscriptions
    /// Records in public databases are deleted, or made anonymous.
    case publicRecords
    /// Nothing is removed; the present changes of public databases must be dispatched first.
    case dispatch
    /// The user's name in the change history.
    case changes
    /// The user's notifications in public databases, and the user's name in other users'
    /// notifications.
    case notifications
    /// Private databases.
    case privateDatabases
    /// The index of the notification log.
    case notificationIndex
    /// The account.
    case account
    /// The bytes of deleted data in the store's file.
    case erasure
  }

  /// The result of a step.
  public enum State: Sendable, Hashable {
    /// There is more work, which the next call continues.
    case working
    /// A server must dispatch changes first. The next call looks again.
    case waiting
    /// All data of the user is deleted.
    case finished
  }

  /// The deletion's name: sixteen hexadecimal digits, which reveal nothing about the user.
  public var identifier: String
  /// The account's name; nil if the account is already gone.
  public var name: String?
  /// The user's record name; nil if the account is already gone.
  public var userRecordName: String?
  /// The treatment of the user's records in public databases.
  public var publicRecords: PublicRecords
  /// The present stage.
  public var stage: Stage
  /// The number of rows removed or made anonymous so far.
  public var done: Int
  /// The time at which an administrator began the deletion.
  public var began: Timestamp
  /// The result of the last step.
  public var state = State.working

  /// Creates a deletion from its row and the result of the last step.
  package init(
    identifier: String, name: String? = nil, userRecordName: String? = nil,
    publicRecords: PublicRecords, stage: Stage, done: Int, began: Timestamp,
    state: State = .working
  ) {
    self.identifier = identifier
    self.name = name
    self.userRecordName = userRecordName
    self.publicRecords = publicRecords
    self.stage = stage
    self.done = done
    self.began = began
    self.state = state
  }
}
