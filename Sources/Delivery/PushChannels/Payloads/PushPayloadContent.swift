import CloudKitModel
import Foundation
import StringTables

/// The content of a payload before encoding. Parts that are `nil` or empty are not written.
struct PushPayloadContent: Equatable {
  /// A zone in a payload.
  struct Zone: Equatable {
    /// The name of the zone; `_defaultZone` for the default zone.
    var name: String
    /// The name of the zone's owner, from ``PushPayloadContent/ownerName(of:in:)``.
    var owner: String
  }

  /// The kind of the subscription. The raw value is the key of the kind's dictionary in `ck`.
  enum Kind: String {
    /// A query subscription.
    case query = "qry"
    case recordZone = "fet"
    case database = "met"
  }

  var hasAPS: Bool
  /// The alert (`aps.alert`).
  var alert = PushPayloadAlert()
  /// The number to show (`aps.badge`); `nil` for none.
  var badge: Int?
  /// The name of the sound (`aps.sound`).
  var sound: String?
  /// The category (`aps.category`).
  var category: String?
  /// Whether the subscription asks to wake the app (`aps.content-available`).
  var isContentAvailable = false
  /// Whether the app's extension may change the notification (`aps.mutable-content`).
  var isContentMutable = false

  /// The number of the container's environment (`ce`): 1 production, 2 development.
  var environment: Int
  /// The identifier of the container (`cid`).
  var containerIdentifier: String
  /// The user record name of the subscriber (`ckuserid`); `nil` after pruning.
  var subscriber: String?
  /// The ID of the notification (`nid`). All notifications of one change have the same ID.
  var notificationID: UUID
  /// The parts that the payload lacks (`p`), in the order in which the lack was found.
  var prunedParts: [PushPayloadPart] = []
  var kind: Kind
  /// The ID of the subscription (`sid`).
  var subscriptionID: String
  /// The scope of the database (`dbs`).
  var scope: DatabaseScope
  /// The event of a query notification (`fo`); `nil` for other kinds, and after pruning.
  var reason: ChangeEvent?
  /// The record name of a query notification (`rid`); `nil` for other kinds, and after pruning.
  var recordName: String?
  /// The record type (`rt`). It is present only if the record was deleted and the subscription
  /// asked for the last values of deleted records.
  var recordType: String?
  /// The zone of the change (`zid`, `zoid`); `nil` after pruning.
  var zone: Zone?
  /// The values of the desired keys (`af`).
  var desiredValues: [PushPayloadField] = []

  /// Whether the notification shows or plays something: an alert, a badge or a sound.
  var isVisible: Bool { !alert.isEmpty || badge != nil || sound != nil }

  /// Whether `aps` has more than `content-available`.
  var isHighPriority: Bool { isVisible || category != nil || isContentMutable }

  /// Creates the content of a notification, with all parts that the reader's payloads can carry.
  /// The size limit is not applied.
  init(
    _ notification: SubscriptionNotification, badge: Int?, reader: PushPayload.Reader,
    strings: PetrelStrings? = nil
  ) {
    let database = notification.database
    let subscription = notification.subscription
    let change = notification.change
    let info = subscription.notificationInfo

    hasAPS = reader == .apns || info != nil
    environment = database.environment.payloadNumber
    containerIdentifier = database.container
    subscriber = notification.subscriber
    notificationID = change.notificationID
    subscriptionID = subscription.subscriptionID
    scope = database.scope
    zone = Zone(
      name: change.zoneID.zoneName, owner: Self.ownerName(of: change.zoneID, in: notification))
    switch subscription.kind {
    case .query:
      kind = .query
      recordName = change.record?.recordID.recordName
      reason = change.event.queryOption == nil ? nil : change.event
    case .recordZone: kind = .recordZone
    case .database: kind = .database
    }
    if notification.carriesLastValues, reason == .recordDeleted {
      recordType = change.record?.recordType
    }
    guard let info else { return }

    let fields = change.record?.fields ?? [:]
    var texts = PushPayloadTexts(limit: reader.stringLimit)
    alert = PushPayloadAlert(info, fields: fields, texts: &texts, strings: strings)
    self.badge = info.shouldBadge ? badge : nil
    sound = info.soundName
    category = info.category
    isContentAvailable = info.shouldSendContentAvailable
    isContentMutable = info.shouldSendMutableContent
    collectDesiredValues(of: notification, reader: reader, texts: &texts)
    if texts.areCut { prunedParts.append(.endsOfStrings) }
  }

  /// Adds the values of the desired keys that a payload can carry. The payload for the notification
  /// log gets no values, because the log has them beside the payload.
  private mutating func collectDesiredValues(
    of notification: SubscriptionNotification, reader: PushPayload.Reader,
    texts: inout PushPayloadTexts
  ) {
    let desired = notification.desiredValues
    if reader == .log {
      if notification.loggedValues.count < desired.count { prunedParts.append(.unsendableValues) }
      return
    }
    for (name, value) in desired {
      if let sendable = PushPayloadField.Value(value, in: notification, texts: &texts) {
        desiredValues.append(PushPayloadField(name: name, value: sendable))
      }
    }
    if desiredValues.count < desired.count { prunedParts.append(.unsendableValues) }
  }

  /// Returns the name of a zone's owner in a payload: `_defaultOwner` in the public database, and
  /// the user record name of the owner in the other databases.
  static func ownerName(of zoneID: ZoneID, in notification: SubscriptionNotification) -> String {
    if notification.database.scope == .public { return "_defaultOwner" }
    if zoneID.ownerName != ZoneID.currentOwnerName { return zoneID.ownerName }
    return notification.database.owner ?? notification.subscriber
  }
}
