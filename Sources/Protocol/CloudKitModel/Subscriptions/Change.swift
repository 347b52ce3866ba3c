import Foundation

/// What happened. The first three raw values are those of `CKQueryNotification.Reason`.
public enum ChangeEvent: Int, Sendable, Hashable, CaseIterable {
  case recordCreated = 1
  case recordUpdated = 2
  case recordDeleted = 3
  case zoneCreated = 4
  case zoneDeleted = 5

  /// The option that a query subscription needs to fire on the event; nil for events of zones.
  public var queryOption: Subscription.Options? {
    switch self {
    case .recordCreated: .firesOnRecordCreation
    case .recordUpdated: .firesOnRecordUpdate
    case .recordDeleted: .firesOnRecordDeletion
    case .zoneCreated, .zoneDeleted: nil
    }
  }
}

/// A change that was committed to a database, with what matching needs to know of it.
public struct Change: Sendable, Hashable {
  public var event: ChangeEvent
  public var zoneID: ZoneID
  /// The record after the change, or before it for a deletion; nil for events of zones.
  public var record: Record?
  /// Shared by the notifications of all subscriptions that the change matches (`nid`).
  public var notificationID: UUID
  public var timestamp: Timestamp
  /// The user who made the change.
  public var userRecordName: String?
  /// The device that made the change: it gets no push for it.
  public var deviceID: String?

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
