import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// A row of the notification log's index by subscriber. It has everything by which readers select
/// entries.
struct NotificationIndexRow: Sendable, Equatable {
  /// The user whose log has the entry.
  var subscriber: String
  var database: DatabaseID
  /// The entry's number in its database.
  var sequence: Int64
  /// The time when the dispatcher logged the entry.
  var logged: Timestamp
  /// The device that made the change, if the subscriber made it.
  var originDevice: String?
  /// The ID of the notification. All entries of one change have the same.
  var notificationID: UUID
  /// The size of the entry's content in the log, in bytes.
  var bytes: Int

  /// The columns of the index after `run`, in the order of ``init(row:)``.
  static let columns = """
    subscriber, database_id, sequence, logged, origin_device, notification_id, bytes
    """

  /// Creates the row of a subscriber's entry for a change.
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

  /// Appends the arguments of ``NotificationIndexTable/insertion``, eight for each row.
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
