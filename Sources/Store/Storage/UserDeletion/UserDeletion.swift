import CloudKitModel

/// The deletion of a user with all the user's data: the account, private databases, assets,
/// subscriptions, devices and notifications.
///
/// The first transaction removes the user's access, so the user can write nothing from then on.
/// The data is then removed in small steps, each a transaction that also stores the progress. So
/// any process that has the store open can continue the deletion, several at the same time.
public struct UserDeletion: Sendable, Hashable {
  /// The decision about the records in public databases that the user created.
  public enum PublicRecords: String, Sendable, Hashable, CaseIterable {
    /// The records stay, as they always do in other users' private databases.
    /// `UserIdentity.deletedUserRecordName` replaces the user's name as creator and as last
    /// modifier.
    case keep
    /// The records are deleted like any others, so subscriptions fire. In other users' records,
    /// `UserIdentity.deletedUserRecordName` replaces the user's name as last modifier.
    case delete
  }

  /// The stages of a deletion, in their order. Each says which data the stage removes.
  public enum Stage: Int64, Sendable, Hashable, CaseIterable {
    /// The user's rows in public databases except records: uploads, client change tokens, and the
    /// IDs of requests. This stage and the next five also visit the private databases of others whose
    /// shares the user took part in.
    case publicRows = 1
    case subscriptions
    case publicRecords
    /// Nothing. The deletion waits until the present changes of public databases are dispatched.
    case dispatch
    case changes
    /// The user's notifications in public databases, and the user's name in other users'
    /// notifications.
    case notifications
    /// The user among the participants and requesters of other users' shares.
    case shares
    case privateDatabases
    /// The user's rows in the index of the notification log.
    case notificationIndex
    case account
    /// The bytes of deleted data in the store's file.
    case erasure
  }

  /// The result of a step.
  public enum State: Sendable, Hashable {
    /// There is more work, which the next call continues.
    case working
    /// The deletion must wait, usually until a server has dispatched changes. The next call checks
    /// again.
    case waiting
    case finished
  }

  /// 16 hexadecimal digits of a hash, which do not reveal the user's name.
  public var identifier: String
  /// The account's name; nil if the account is already deleted.
  public var name: String?
  /// The user record name; nil if the account is already deleted.
  public var userRecordName: String?
  /// The decision about the user's records in public databases.
  public var publicRecords: PublicRecords
  /// The present stage.
  public var stage: Stage
  /// The number of rows removed or made anonymous so far.
  public var done: Int
  /// The time at which the deletion began.
  public var began: Timestamp
  /// The result of the last step.
  public var state = State.working
}
