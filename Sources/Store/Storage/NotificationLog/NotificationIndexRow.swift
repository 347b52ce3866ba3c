import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// A row of the notification log's index by subscriber (``NotificationIndexTable``). The row has
/// all values by which readers select entries.
struct NotificationIndexRow: Sendable, Equatable {
  /// The record name of the user whose log has the entry.
  var subscriber: String
  var database: DatabaseID
  /// The entry's number in its database.
  var sequence: Int64
  /// The time when the dispatcher logged the entry.
  var logged: Timestamp
  /// The client ID of the subscriber's device that made the change; nil if another user made the
  /// change, or if the device has no client ID.
  var originDevice: String?
  /// The ID of the notification. All entries of one change have the same ID.
  var notificationID: UUID
  /// The size of the entry's content in the log, in bytes.
  var bytes: Int

  /// The columns of the index after the column `run`, in the order in which ``init(row:)`` reads
  /// them.
  static let columns = """
    subscriber, database_id, sequence, logged, origin_device, notification_id, bytes
    """

  /// Creates the row for the entry of a change in a subscriber's log.
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

  /// Reads a row.
  ///
  /// - Parameter row: has ``columns``.
  /// - Throws: ``StoreError/Code/corrupt`` if the notification ID does not have 16 bytes.
  init(row: any SQLRow) throws {
    subscriber = row.text(0)
    database = DatabaseID(rawValue: row.integer(1))
    sequence = row.integer(2)
    logged = Timestamp(milliseconds: row.integer(3))
    originDevice = row.optionalText(4)
    notificationID = try UUID(stored: row.bytes(5))
    bytes = Int(row.integer(6))
  }

  /// Appends the eight arguments with which `NotificationIndexTable.sql.insertion` inserts this row.
  ///
  /// - Parameter run: the number of the run that gets the row: a sorted piece of the index.
  func appendArguments(run: Int64, to arguments: inout SQLArguments) {
    arguments.append(run)
    arguments.append(subscriber)
    arguments.append(database.rawValue)
    arguments.append(sequence)
    arguments.append(logged.milliseconds)
    arguments.append(originDevice)
    withUnsafeBytes(of: notificationID.uuid) { arguments.append(bytes: $0.bytes) }
    arguments.append(Int64(bytes))
  }
}
