import CloudKit
import CloudKitModel
import PushChannels
import Testing

/// The notification that the client must read from a payload, computed without the code that writes
/// payloads.
struct ExpectedNotification {
  let notification: SubscriptionNotification
  let badge: Int?
  let reader: PushPayload.Reader
  /// The parts that were left out of the payload.
  let pruned: Set<String>
  /// Foundation's parser on Linux reads some doubles of 17 digits as others nearby.
  let readsDoublesExactly: Bool

  private var info: NotificationInfo? { notification.subscription.notificationInfo }
  private var change: Change { notification.change }
  private var scope: CKDatabase.Scope? {
    CKDatabase.Scope(rawValue: notification.database.scope.rawValue)
  }
  private var isQuery: Bool {
    if case .query = notification.subscription.kind { true } else { false }
  }

  private func unless<Value>(_ part: String, _ value: Value?) -> Value? {
    pruned.contains(part) ? nil : value
  }

  // MARK: Values

  /// The owner of a zone as an app names it; nil where it has no name.
  private func owner(_ zoneID: ZoneID) -> String? {
    if notification.database.scope == .public { return CKCurrentUserDefaultName }
    var owner = zoneID.ownerName
    if owner == ZoneID.currentOwnerName {
      owner = notification.database.owner ?? notification.subscriber
    }
    if owner == notification.subscriber, notification.database.scope == .private, !owner.isEmpty {
      return CKCurrentUserDefaultName
    }
    return owner.isEmpty ? nil : owner
  }

  private var zoneID: CKRecordZone.ID? {
    unless("record ID or zone ID", owner(change.zoneID)).map {
      CKRecordZone.ID(zoneName: change.zoneID.zoneName, ownerName: $0)
    }
  }

  private func cut(_ text: String) -> String {
    reader == .log ? text : String(text.prefix(100))
  }

  private func arguments(_ names: [String]?) -> [String]? {
    names?.map { name in
      switch change.record?.fields[name] {
      case .string(let text): cut(text)
      case .int64(let number): "\(number)"
      case .double(let number): number.isNaN ? "nan" : "\(number)"
      case .timestamp(let moment): moment.iso8601
      default: ""
      }
    }
  }

  /// The desired fields that have a value; empty for a change that carries no values.
  private var desired: [String: RecordValue] {
    let tells =
      change.event == .recordCreated || change.event == .recordUpdated
      || (change.event == .recordDeleted && notification.carriesLastValues)
    guard isQuery, tells, let record = change.record else { return [:] }
    return Set(info?.desiredKeys ?? []).reduce(into: [:]) { $0[$1] = record.fields[$1] }
  }

  private func canBeSent(_ value: RecordValue) -> Bool {
    if reader == .log { return value.type.element != .asset }
    return switch value {
    case .string, .int64, .timestamp, .reference: true
    case .double(let number): number.isFinite
    case .location(let place): place.latitude.isFinite && place.longitude.isFinite
    case .bytes, .preciseTimestamp, .asset, .list: false
    }
  }

  /// Whether a string that belongs into the payload is longer than it may be.
  private var hasLongStrings: Bool {
    let texts = [
      (info?.alertLocalizationKey, info?.alertLocalizationArgs),
      (info?.titleLocalizationKey, info?.titleLocalizationArgs),
      (info?.subtitleLocalizationKey, info?.subtitleLocalizationArgs),
    ]
    let arguments = texts.flatMap { $0.0 == nil ? [] : $0.1 ?? [] }
      .compactMap { change.record?.fields[$0] }
    return reader != .log
      && (arguments + desired.values).contains {
        if case .string(let text) = $0 { text.count > 100 } else { false }
      }
  }

  // MARK: Comparing

  @available(*, deprecated)
  func verify(_ read: CKNotification, isPruned: Bool, _ comment: Comment) {
    let lacksValue = desired.values.contains { !canBeSent($0) }
    #expect(pruned.contains("values that no push can carry") == lacksValue, comment)
    #expect(pruned.contains("ends of long strings") == hasLongStrings, comment)
    #expect(isPruned == !pruned.isEmpty, comment)
    #expect(read.isPruned == isPruned, comment)
    #expect(
      read.notificationID?.identifier == change.notificationID.uuidString.lowercased(), comment)
    #expect(same(read.subscriptionID, notification.subscription.subscriptionID), comment)
    #expect(
      same(
        read.containerIdentifier, notification.database.container),
      comment)
    let subscriber = notification.subscriber.isEmpty ? nil : notification.subscriber
    #expect(
      same(read.subscriptionOwnerUserRecordID?.recordName, unless("subscriber", subscriber)),
      comment)
    verifyKind(read, comment)
    verifyTexts(read, comment)
    #expect(
      read.badge?.intValue == unless("badge", info?.shouldBadge == true ? badge : nil), comment)
    #expect(same(read.soundName, unless("sound", info?.soundName)), comment)
    #expect(same(read.category, unless("category", info?.category)), comment)
  }

  private func verifyKind(_ read: CKNotification, _ comment: Comment) {
    switch notification.subscription.kind {
    case .query:
      #expect(read.notificationType == .query, comment)
      guard let query = read as? CKQueryNotification else {
        Issue.record("\(comment): no query notification")
        return
      }
      #expect(query.databaseScope == scope, comment)
      let reasons: [ChangeEvent: CKQueryNotification.Reason] = [
        .recordCreated: .recordCreated, .recordUpdated: .recordUpdated,
        .recordDeleted: .recordDeleted,
      ]
      #expect(
        query.queryNotificationReason.rawValue
          == unless("reason", reasons[change.event])?.rawValue ?? 0, comment)
      #expect(same(query.recordID?.zoneID, change.record == nil ? nil : zoneID), comment)
      if zoneID != nil {
        #expect(same(query.recordID?.recordName, change.record?.recordID.recordName), comment)
      }
      verifyFields(query.recordFields, comment)
    case .recordZone:
      #expect(read.notificationType == .recordZone, comment)
      let zone = read as? CKRecordZoneNotification
      #expect(zone?.databaseScope == scope, comment)
      #expect(same(zone?.recordZoneID, zoneID), comment)
    case .database:
      #expect(read.notificationType == .database, comment)
      #expect((read as? CKDatabaseNotification)?.databaseScope == scope, comment)
    }
  }

  private func verifyFields(_ read: [String: Any]?, _ comment: Comment) {
    let values = desired.filter { canBeSent($0.value) }
    guard let expected = unless("values of desired keys", values.isEmpty ? nil : values) else {
      #expect(read == nil, comment)
      return
    }
    #expect(Set(read?.keys.map(\.self) ?? []) == Set(expected.keys), comment)
    for (name, value) in expected {
      let found = read?[name]
      let isSame =
        switch value {
        case .string(let text): same(found as? String, cut(text))
        case .int64(let number): (found as? NSNumber)?.int64Value == number
        case .double(let number): isSame(found as? NSNumber, number)
        case .timestamp(let moment) where reader == .log:
          (found as? Date).map { ($0.timeIntervalSince1970 * 1000).rounded() }
            == Double(moment.milliseconds)
        case .timestamp(let moment):
          (found as? NSNumber).map { ($0.doubleValue * 1000).rounded() }
            == Double(moment.milliseconds)
        case .location(let place):
          (found as? CLLocation).map {
            Self.areSame($0.coordinate.latitude, place.latitude)
              && Self.areSame($0.coordinate.longitude, place.longitude)
          } ?? false
        case .reference(let reference): isSame(found as? CKRecord.Reference, reference)
        case .bytes(let data): found as? Data == data
        case .list(_, let values): (found as? [Any])?.count == values.count
        case .preciseTimestamp, .asset: false
        }
      #expect(isSame, "\(comment): \(name) is \(String(describing: found)) instead of \(value)")
    }
  }

  /// Whether two numbers are equal, or both none.
  private static func areSame(_ read: Double, _ number: Double) -> Bool {
    read == number || (read.isNaN && number.isNaN)
  }

  private func isSame(_ read: NSNumber?, _ number: Double) -> Bool {
    guard let read = read?.doubleValue else { return false }
    if readsDoublesExactly || !number.isFinite { return Self.areSame(read, number) }
    return abs(read - number) <= abs(number) * 1e-14
  }

  private func isSame(_ read: CKRecord.Reference?, _ reference: Reference) -> Bool {
    let zone = reference.zoneID ?? change.zoneID
    // A client knows that all zones of its private database are its own; here the owner may be any.
    let isOwn = reader == .log && notification.database.scope == .private && reference.zoneID != nil
    return same(read?.recordID.recordName, reference.recordName)
      && same(read?.recordID.zoneID.zoneName, zone.zoneName)
      && same(read?.recordID.zoneID.ownerName, isOwn ? CKCurrentUserDefaultName : owner(zone) ?? "")
  }

  @available(*, deprecated)
  private func verifyTexts(_ read: CKNotification, _ comment: Comment) {
    verify("body", read.alertBody, info?.alertBody, info?.alertLocalizationKey, comment)
    verify("subtitle", read.subtitle, info?.subtitle, info?.subtitleLocalizationKey, comment)
    verify("title", read.title, info?.title, info?.titleLocalizationKey, comment)
    let texts: [(String?, String?)] = [
      (read.alertLocalizationKey, unless("localisation key", info?.alertLocalizationKey)),
      (read.titleLocalizationKey, unless("title", info?.titleLocalizationKey)),
      (read.subtitleLocalizationKey, unless("subtitle", info?.subtitleLocalizationKey)),
      (read.alertActionLocalizationKey, unless("action key", info?.alertActionLocalizationKey)),
      (read.alertLaunchImage, unless("launch image", info?.alertLaunchImage)),
    ]
    for (text, expected) in texts { #expect(same(text, expected), comment) }
    let lists: [(part: String, read: [String]?, key: String?, names: [String]?)] = [
      (
        "localisation arguments", read.alertLocalizationArgs, info?.alertLocalizationKey,
        info?.alertLocalizationArgs
      ),
      (
        "title", read.titleLocalizationArgs, info?.titleLocalizationKey,
        info?.titleLocalizationArgs
      ),
      (
        "subtitle", read.subtitleLocalizationArgs, info?.subtitleLocalizationKey,
        info?.subtitleLocalizationArgs
      ),
    ]
    for list in lists {
      let expected = unless(list.part, list.key == nil ? nil : arguments(list.names))
      #expect(list.read?.map { Array($0.utf8) } == expected?.map { Array($0.utf8) }, comment)
    }
  }

  /// A text that is shortened before it goes, to no less than 100 characters.
  private func verify(
    _ part: String, _ read: String?, _ text: String?, _ key: String?, _ comment: Comment
  ) {
    let whole = unless(part, key == nil ? text : nil)
    guard pruned.contains("end of the \(part)"), let whole else {
      #expect(same(read, whole), comment)
      return
    }
    let count = read?.count ?? 0
    #expect(same(read, String(whole.prefix(count))) && count < whole.count, comment)
    #expect(count >= 100, comment)
  }

  /// Byte by byte: Swift's own equality passes over how a character is composed.
  private func same(_ left: String?, _ right: String?) -> Bool {
    left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
  }

  private func same(_ left: CKRecordZone.ID?, _ right: CKRecordZone.ID?) -> Bool {
    same(left?.zoneName, right?.zoneName) && same(left?.ownerName, right?.ownerName)
  }
}
