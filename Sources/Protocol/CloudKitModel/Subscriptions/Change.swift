import Foundation

/// The kind of a change. The first three raw values are those of `CKQueryNotification.Reason`.
public enum ChangeEvent: Int, Sendable, Hashable, CaseIterable {
  /// A record was saved for the first time.
  case recordCreated = 1
  /// An existing record was saved.
  case recordUpdated = 2
  /// A record was deleted.
  case recordDeleted = 3
  /// A zone was created.
  case zoneCreated = 4
  /// A zone was deleted with its records.
  case zoneDeleted = 5

  /// The option that a query subscription needs to fire on the event. It is nil for events of
  /// zones, on which query subscriptions never fire.
  public var queryOption: Subscription.Options? {
    switch self {
    case .recordCreated: .firesOnRecordCreation
    case .recordUpdated: .firesOnRecordUpdate
    case .recordDeleted: .firesOnRecordDeletion
    case .zoneCreated, .zoneDeleted: nil
    }
  }
}

/// A committed change in a database, with all data that is needed to match it against
/// subscriptions.
public struct Change: Sendable, Hashable {
  /// The kind of the change.
  public var event: ChangeEvent
  /// The zone that changed, or the zone of the changed record.
  public var zoneID: ZoneID
  /// The record after the change. For a deletion it is the record before the change; for events of
  /// zones it is nil.
  public var record: Record?
  /// The identifier of the change's notifications (`nid`). The notifications of all matching
  /// subscriptions share it.
  public var notificationID: UUID
  /// The time of the change by the server's clock.
  public var timestamp: Timestamp
  /// The user who made the change; nil when it is unknown.
  public var userRecordName: String?
  /// The device that made the change; nil when the client did not name its device. The server sends
  /// this device no push for the change.
  public var deviceID: String?

  /// Creates a change.
  public init(
    event: ChangeEvent, zoneID: ZoneID, record: Record?, notificationID: UUID,
    timestamp: Timestamp, userRecordName: String? = nil, deviceID: String? = nil
  ) {
    self.event = event
    self.zoneID = zoneID
    self.record = record
    self.notificationID = notificationID
    self.timestamp = timestamp
    self.userRecordName = userRecordName
    self.deviceID = deviceID
  }
}
