import CloudKitModel

/// The deletion of a user with all that is the user's: the account, private databases, assets,
/// subscriptions, devices, notifications.
///
/// It begins with a transaction after which the user can do nothing any more. What the user has goes in
/// steps of bounded size, each a transaction of its own. How far the deletion is stands in the store, in
/// the same transactions: any process that has the store open can go on with it, and several may at the
/// same time.
public struct UserDeletion: Sendable, Hashable {
  /// What becomes of records in public databases that the user created.
  public enum PublicRecords: String, Sendable, Hashable, CaseIterable {
    /// They stay, and ``UserIdentity/deletedUserRecordName`` takes the user's place in their stamps.
    case keep
    /// They are deleted as by any change. Of records that others created and the user modified the stamp
    /// of the modification becomes anonymous.
    case delete
  }

  /// What is being removed, in this order.
  public enum Stage: Int64, Sendable, Hashable, CaseIterable {
    /// What public databases have for the user beside records: uploads, change tokens, named requests.
    case publicRows = 1
    /// Subscriptions in public databases.
    case subscriptions
    /// Records in public databases: they are deleted, or made anonymous.
    case publicRecords
    /// Nothing: the changes of public databases up to now have to be dispatched.
    case dispatch
    /// The user's name in the changes that are kept for explanations.
    case changes
    /// The user's notifications in public databases, and the user's name in those of others.
    case notifications
    /// Private databases.
    case privateDatabases
    /// The index of the notification log.
    case notificationIndex
    /// The account.
    case account
    /// The bytes of what was deleted, in the store's file.
    case erasure
  }

  /// How a step ended.
  public enum State: Sendable, Hashable {
    /// There is more to do.
    case working
    /// A server has to dispatch changes first.
    case waiting
    case finished
  }

  /// Sixteen hexadecimal digits, which tell nothing of the user.
  public var identifier: String
  /// Nil when the account is gone already.
  public var name: String?
  /// Nil when the account is gone already.
  public var userRecordName: String?
  public var publicRecords: PublicRecords
  public var stage: Stage
  /// Rows that were removed or made anonymous so far.
  public var done: Int
  public var began: Timestamp
  public var state = State.working

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
