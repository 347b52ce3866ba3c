import APNsSimulation
import CloudKit
import JSONCoding

extension ReceivedPush {
  /// The payload as an app gets it.
  var userInfo: [AnyHashable: Any] {
    let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8))
    return object as? [String: Any] ?? [:]
  }

  var notification: CKNotification? {
    CKNotification(fromRemoteNotificationDictionary: userInfo)
  }

  var query: CKQueryNotification? { notification as? CKQueryNotification }
  var subscriptionID: String? { notification?.subscriptionID }
  var recordName: String? { query?.recordID?.recordName }

  /// The payload as JSON; null where it is none.
  var json: JSONValue { (try? JSONValue(parsing: payload)) ?? .null }

  /// The event and record of a query notification, such as `created A`.
  var event: String? {
    guard let query else { return nil }
    let verb =
      switch query.queryNotificationReason {
      case .recordCreated: "created"
      case .recordUpdated: "updated"
      case .recordDeleted: "deleted"
      @unknown default: query.queryNotificationReason.caseName
      }
    return "\(verb) \(query.recordID?.recordName ?? "?")"
  }
}
