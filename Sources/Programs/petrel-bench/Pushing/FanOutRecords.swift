import CloudKitModel
import StoreModel

/// Records of which each fires all subscriptions to its author.
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

  static func save(
    _ name: String, author: String, in database: DatabaseID, of store: any RecordWriting
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

  /// The device of a user in the fill; its token ends in the user's number.
  static func device(of user: Int) -> DeviceToken {
    DeviceToken(
      kind: .apns, token: String(repeating: "0", count: 56) + String(10_000_000 + user),
      container: EarthquakeRequests.container, environment: .development,
      apnsEnvironment: .development, userRecordName: SubscriptionFill.user(user), deviceID: nil,
      registered: .now)
  }
}
