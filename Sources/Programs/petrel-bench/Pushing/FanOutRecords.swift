import CloudKitModel
import Storage
import StoreModel

/// The records, subscriptions and devices of the push benchmarks. A record fires all subscriptions
/// to its author.
enum FanOutRecords {
  static let recordType = "FeedItem"
  static let title = RecordValue.string("Sea, wind and stars")

  static func subscription(_ identifier: String, author: String) -> Subscription {
    var info = NotificationInfo()
    info.alertBody = "New"
    info.desiredKeys = ["title"]
    return Subscription(
      subscriptionID: identifier,
      kind: .query(
        Query(
          recordType: recordType, filters: [Filter(.field("author"), .equals, .string(author))]),
        zoneID: nil, options: .firesOnRecordCreation), notificationInfo: info)
  }

  /// Throws the error of the store, or the failure of the record.
  static func save(
    _ name: String, author: String, in database: DatabaseID, of store: RecordService
  ) async throws {
    let outcomes = try await store.modifyRecords(
      RecordModification(
        database: database,
        operations: [
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: name, zoneID: .default),
            recordType: recordType, fields: ["author": .string(author), "title": title])
        ], isAtomic: false, origin: ChangeOrigin(userRecordName: "_author"),
        isByAdministrator: true,
        timestamp: .now))
    for case .failed(let failure) in outcomes { throw failure }
  }

  static func address(_ scope: DatabaseScope, owner: String? = nil) -> DatabaseAddress {
    DatabaseAddress(
      container: EarthquakeRequests.container, environment: .development, scope: scope,
      owner: owner)
  }

  /// Returns the APNs device of a user whose number is `user`, as in ``SubscriptionFill``. The
  /// device token ends with this number.
  static func device(of user: Int) -> DeviceToken {
    DeviceToken(
      kind: .apns, token: String(repeating: "0", count: 56) + String(10_000_000 + user),
      container: EarthquakeRequests.container, environment: .development,
      apnsEnvironment: .development, userRecordName: SubscriptionFill.user(user), deviceID: nil,
      registered: .now)
  }
}
