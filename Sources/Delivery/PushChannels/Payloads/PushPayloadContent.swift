import CloudKitModel
import Foundation
import StringTables

/// The content of a payload before encoding. Parts that are nil or empty are not written.
struct PushPayloadContent: Equatable {
  struct Zone: Equatable {
    var name: String
    var owner: String
  }

  enum Kind: String {
    case query = "qry"
    case recordZone = "fet"
    case database = "met"
  }

  // What is shown, under `aps`.
  /// Whether there is an `aps` at all.
  var hasAPS: Bool
  var alert = PushPayloadAlert()
  var badge: Int?
  var sound: String?
  var category: String?
  var isContentAvailable = false
  var isContentMutable = false

  // The data for the app, under `ck`.
  var environment: Int
  var containerIdentifier: String?
  var subscriber: String?
  var notificationID: UUID
  var prunedParts: [PushPayloadPart] = []
  var kind: Kind
  var subscriptionID: String
  var scope: DatabaseScope
  var reason: ChangeEvent?
  var recordName: String?
  /// Present only for deleted records, and only with last values.
  var recordType: String?
  var zone: Zone?
  var desiredValues: [PushPayloadField] = []

  var isVisible: Bool { !alert.isEmpty || badge != nil || sound != nil }

  /// Whether `aps` has more than `content-available`.
  var isHighPriority: Bool { isVisible || category != nil || isContentMutable }

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

  /// The owner of a zone in a payload: `_defaultOwner` in the public database, the owner's user
  /// record name in the others.
  static func ownerName(of zoneID: ZoneID, in notification: SubscriptionNotification) -> String {
    if notification.database.scope == .public { return "_defaultOwner" }
    if zoneID.ownerName != ZoneID.currentOwnerName { return zoneID.ownerName }
    return notification.database.owner ?? notification.subscriber
  }
}
