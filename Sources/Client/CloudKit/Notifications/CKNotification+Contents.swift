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
  ///   - ck: the object `ck`, which has the values of all kinds.
  ///   - kind: the object `qry`, `fet` or `met` in `ck`, which has the values of one kind; `nil` when there is none.
  ///   - aps: the object `aps`, which has what the system shows to the user.
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
  /// Creates the alert from the object `aps` of a payload.
  ///
  /// The member `alert` is a text, or an object with parts. In older payloads, this object also has the badge, the
  /// sound and the category.
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
