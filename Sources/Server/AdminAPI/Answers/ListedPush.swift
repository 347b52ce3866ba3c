import CloudKitModel
import JSONCoding
import Storage
import StoreModel

/// An entry of the notification log with the state of its deliveries, as `pushes` lists it.
struct ListedPush: Sendable {
  var push: LoggedPush
  /// The account name of the subscriber; nil if there is no account with the user record name.
  var subscriberName: String?

  /// The answer's shape. `unsent` names the reasons why some devices have no delivery; it is
  /// missing if there is no such reason.
  static let shape = AnswerShape<ListedPush>("Push") { listed in
    listed.members(of: LogEntry.shape) { $0.push.entry }
    listed.optional("subscriberName") { $0.subscriberName }
    listed.list("deliveries", of: PastDelivery.shape) { $0.push.deliveries }
    listed.optional("unsent") { $0.push.unsent.isEmpty ? nil : $0.push.unsent.names }
  }
}

extension LogEntry {
  /// The shape of a log entry without deliveries. `key` is unique in the store.
  fileprivate static let shape = AnswerShape<LogEntry> { entry in
    entry.member("key") { "\($0.database.rawValue).\($0.sequence)" }
    entry.member("sequence", as: .count) { $0.sequence }
    entry.member("notificationID") { $0.change.notificationID.uuidString.lowercased() }
    entry.member("container") { $0.notification.database.container }
    entry.member("environment") { $0.notification.database.environment }
    entry.member("database", as: .databaseScope) { $0.notification.database.scope.pathComponent }
    entry.optional("user") { $0.notification.database.owner }
    entry.member("subscriber") { $0.notification.subscriber }
    entry.member("subscriptionID") { $0.notification.subscription.subscriptionID }
    entry.member("event") { "\($0.change.event)" }
    entry.member("zoneName") { $0.change.zoneID.zoneName }
    entry.optional("zoneOwner") {
      let owner = $0.change.zoneID.ownerName
      return owner == ZoneID.currentOwnerName ? nil : owner
    }
    entry.optional("recordName") { $0.change.record?.recordID.recordName }
    entry.optional("recordType") { $0.change.record?.recordType }
    entry.member("changed") { $0.change.timestamp }
    entry.member("logged") { $0.logged }
  }

  private var change: Change { notification.change }
}

extension PastDelivery {
  /// The shape of a delivery. `due` exists only while the delivery waits.
  fileprivate static let shape = AnswerShape<PastDelivery>("Delivery") { delivery in
    delivery.member("number", as: .count) { $0.id.number }
    delivery.optional("kind") { $0.kind }
    delivery.member("token") { $0.token }
    delivery.member("state", as: .word(DeliveryState.allCases.map { "\($0)" })) { "\($0.state)" }
    delivery.member("attempts", as: .count) { $0.attempts }
    delivery.optional("reason") { $0.reason }
    delivery.member("updated") { $0.updated }
    delivery.optional("due") { $0.state == .waiting ? $0.due : nil }
  }
}

extension LivePushes.Batch {
  /// The shape of the event `pushes` in the event stream.
  static let shape = AnswerShape<LivePushes.Batch> { batch in
    batch.list("pushes", of: LogEntry.shape) { $0.entries }
    batch.member("leftOut", as: .count) { $0.leftOut }
  }
}
