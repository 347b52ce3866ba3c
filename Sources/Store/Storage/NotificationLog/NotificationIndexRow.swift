import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// A row of the index by subscriber, with all values by which readers select entries.
struct NotificationIndexRow: Sendable, Equatable {
  var subscriber: String
  var database: DatabaseID
  var sequence: Int64
  var logged: Timestamp
  /// The client ID of the subscriber's device that made the change; nil for another user's change,
  /// or for a device without a client ID.
  var originDevice: String?
  /// Shared by all entries of one change.
  var notificationID: UUID
  var bytes: Int

  static let columns = """
    subscriber, database_id, sequence, logged, origin_device, notification_id, bytes
    """

  init(
    of change: Change, for subscriber: String, in database: DatabaseID, sequence: Int64,
    logged: Timestamp, bytes: Int
  ) {
    self.subscriber = subscriber
    self.database = database
    self.sequence = sequence
    self.logged = logged
    originDevice = change.userRecordName == subscriber ? change.deviceID : nil
    notificationID = change.notificationID
    self.bytes = bytes
  }

  /// - Throws: ``StoreError/Code/corrupt`` if the notification ID does not have 16 bytes.
  init(row: any SQLRow) throws {
    subscriber = row.text(0)
    database = row.database(1)
    sequence = row.integer(2)
    logged = row.time(3)
    originDevice = row.optionalText(4)
    notificationID = try UUID(stored: row.bytes(5))
    bytes = row.count(6)
  }

  /// The arguments of `NotificationIndexTable.sql.insertion`.
  func appendArguments(run: Int64, to arguments: inout SQLArguments) {
    arguments.append(run)
    arguments.append(subscriber)
    arguments.append(database.rawValue, sequence)
    arguments.append(logged.milliseconds)
    arguments.append(originDevice)
    withUnsafeBytes(of: notificationID.uuid) { arguments.append(bytes: $0.bytes) }
    arguments.append(Int64(bytes))
  }
}
