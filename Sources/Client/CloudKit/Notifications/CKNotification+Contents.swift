extension CKNotification {
  /// The values that all kinds of notification have.
  struct Contents: Sendable {
    var notificationID: ID?
    var containerIdentifier: String?
    var subscriptionOwnerUserRecordID: CKRecord.ID?
    var isPruned = false
    var subscriptionID: CKSubscription.ID?
    var alert = Alert()
  }

  /// The `aps` part of a payload: the alert, the badge, the sound and the category.
  struct Alert: Sendable {
    var body: String?
    var localizationKey: String?
    var localizationArgs: [String]?
    var title: String?
    var titleLocalizationKey: String?
    var titleLocalizationArgs: [String]?
    var subtitle: String?
    var subtitleLocalizationKey: String?
    var subtitleLocalizationArgs: [String]?
    var actionLocalizationKey: String?
    var launchImage: String?
    var badge: Int?
    var soundName: String?
    var category: String?
  }
}

extension CKNotification.Contents {
  /// Creates the contents from a payload.
  ///
  /// - Parameters:
  ///   - ck: the common part of the payload.
  ///   - kind: the part of the kind (`qry`, `fet` or `met`).
  ///   - aps: the part that the system shows.
  init(ck: PayloadObject, kind: PayloadObject?, aps: PayloadObject?) {
    notificationID = ck.string("nid").map { CKNotificationID($0) }
    containerIdentifier = ck.string("cid")
    if let user = ck.string("ckuserid"), !user.isEmpty {
      subscriptionOwnerUserRecordID = CKRecord.ID(recordName: user)
    }
    isPruned = ck["p"] != nil
    subscriptionID = kind?.string("sid")
    alert = CKNotification.Alert(aps)
  }
}

extension CKNotification.Alert {
  /// Creates the alert from a payload.
  ///
  /// The alert is a text, or an object with parts. In older payloads this object also holds badge, sound and category.
  init(_ aps: PayloadObject?) {
    guard let aps else { return }
    let alert = aps.object("alert")
    body = aps.string("alert") ?? alert?.string("body")
    localizationKey = alert?.string("loc-key")
    localizationArgs = alert?.strings("loc-args")
    title = alert?.string("title")
    titleLocalizationKey = alert?.string("title-loc-key")
    titleLocalizationArgs = alert?.strings("title-loc-args")
    subtitle = alert?.string("subtitle")
    subtitleLocalizationKey = alert?.string("subtitle-loc-key")
    subtitleLocalizationArgs = alert?.strings("subtitle-loc-args")
    actionLocalizationKey = alert?.string("action-loc-key")
    launchImage = alert?.string("launch-image")
    badge = aps.integer("badge") ?? alert?.integer("badge")
    soundName = aps.string("sound") ?? alert?.string("sound")
    category = aps.string("category") ?? alert?.string("category")
  }
}
