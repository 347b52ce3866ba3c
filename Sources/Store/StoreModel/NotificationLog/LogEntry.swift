import CloudKitModel
import Foundation

/// An entry of the notification log: one notification of one user.
///
/// The log has all contents of a notification. A push may lack some, because its size is limited.
public struct LogEntry: Sendable, Hashable {
  /// The database whose change fired the notification.
  public var database: DatabaseID
  /// The number, unique in the database. A later entry has a greater one.
  public var sequence: Int64
  /// The notification: the subscription, its owner and the change.
  public var notification: SubscriptionNotification
  /// The time at which the entry was written.
  public var logged: Timestamp

  /// Creates a value; writes nothing to the store.
  public init(
    database: DatabaseID, sequence: Int64, notification: SubscriptionNotification,
    logged: Timestamp
  ) {
    self.database = database
    self.sequence = sequence
    self.notification = notification
    self.logged = logged
  }
}

/// One notification as a reader of the log sees it.
public enum LoggedNotification: Sendable, Hashable {
  case unread(LogEntry)
  /// The mark of a notification that was marked as read at this time, whose contents the log no
  /// longer returns.
  case read(notificationID: UUID, marked: Timestamp)
}

/// The limits of the notification log. The store deletes an entry some time after it exceeds one
/// of them.
public struct NotificationLogLimits: Sendable, Hashable {
  /// The seconds after which the store may delete entries and marks. A mark's age counts from the
  /// marking.
  public var age = 30.0 * 24 * 60 * 60
  /// The newest entries that the store keeps for one user in all containers together, and as many
  /// of the user's marks.
  public var entries = 10_000
  /// The bytes of newest entries that the store keeps for one user in all containers together.
  public var bytes = 64 << 20

  /// The default limits.
  public init() {}
}

/// A user in one environment of a container: the recipient of notifications.
public struct Recipient: Sendable, Hashable {
  /// The user's record name.
  public var userRecordName: String
  /// The container's identifier.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment

  /// Names a recipient.
  public init(userRecordName: String, container: String, environment: ContainerEnvironment) {
    self.userRecordName = userRecordName
    self.container = container
    self.environment = environment
  }
}

extension DeviceToken {
  package var recipient: Recipient {
    Recipient(userRecordName: userRecordName, container: container, environment: environment)
  }
}
