package import CloudKitModel

/// The content and appearance of a subscription's notifications: `CKSubscription.NotificationInfo`.
///
/// If nothing is set, the server sends silent pushes. To start the app in the background without
/// showing anything, set only ``shouldSendContentAvailable``. An alert, a badge, a sound, a
/// category or mutable content gives the notification high priority: APNs delivers it at once. The
/// device shows it only if the user allows notifications.
///
/// ``desiredKeys`` and ``collapseIDKey`` do not raise the priority, because APNs refuses high
/// priority if `aps` contains only `content-available`. By Apple's documentation, every property
/// except ``shouldSendContentAvailable`` raises the priority.
///
/// ```swift
/// let info = CKSubscription.NotificationInfo()
/// info.alertLocalizationKey = "NEW_NOTE"      // "%1$@ is new" in the app's strings file
/// info.alertLocalizationArgs = ["title"]
/// info.soundName = "default"
/// ```
open class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  private let contents: Locked<NotificationInfo>

  /// Makes an info in which nothing is set. All lists are nil.
  public override init() {
    contents = Locked(NotificationInfo())
  }

  /// Makes an info from its properties. A list that the caller leaves out is empty, which has the
  /// same effect as nil.
  public convenience init(
    alertBody: String? = nil, alertLocalizationKey: String? = nil,
    alertLocalizationArgs: [CKRecord.FieldKey] = [], title: String? = nil,
    titleLocalizationKey: String? = nil, titleLocalizationArgs: [CKRecord.FieldKey] = [],
    subtitle: String? = nil, subtitleLocalizationKey: String? = nil,
    subtitleLocalizationArgs: [CKRecord.FieldKey] = [], alertActionLocalizationKey: String? = nil,
    alertLaunchImage: String? = nil, soundName: String? = nil,
    desiredKeys: [CKRecord.FieldKey] = [], shouldBadge: Bool = false,
    shouldSendContentAvailable: Bool = false, shouldSendMutableContent: Bool = false,
    category: String? = nil, collapseIDKey: String? = nil
  ) {
    var info = NotificationInfo()
    info.alertBody = alertBody
    info.alertLocalizationKey = alertLocalizationKey
    info.alertLocalizationArgs = alertLocalizationArgs
    info.title = title
    info.titleLocalizationKey = titleLocalizationKey
    info.titleLocalizationArgs = titleLocalizationArgs
    info.subtitle = subtitle
    info.subtitleLocalizationKey = subtitleLocalizationKey
    info.subtitleLocalizationArgs = subtitleLocalizationArgs
    info.alertActionLocalizationKey = alertActionLocalizationKey
    info.alertLaunchImage = alertLaunchImage
    info.soundName = soundName
    info.desiredKeys = desiredKeys
    info.shouldBadge = shouldBadge
    info.shouldSendContentAvailable = shouldSendContentAvailable
    info.shouldSendMutableContent = shouldSendMutableContent
    info.category = category
    info.collapseIDKey = collapseIDKey
    self.init(info)
  }

  package init(_ model: NotificationInfo) {
    contents = Locked(model)
  }

  /// The info as a request contains it. An empty list counts as not set.
  package var model: NotificationInfo {
    var info = contents.withLock { $0 }
    for list in [
      \NotificationInfo.alertLocalizationArgs, \.titleLocalizationArgs,
      \.subtitleLocalizationArgs, \.desiredKeys,
    ] where info[keyPath: list]?.isEmpty == true {
      info[keyPath: list] = nil
    }
    return info
  }

  /// One property of the info. Each access takes the lock.
  private subscript<Value>(property: WritableKeyPath<NotificationInfo, Value>) -> Value {
    get { contents.withLock { $0[keyPath: property] } }
    set { contents.withLock { $0[keyPath: property] = newValue } }
  }

  /// The text of the alert. The server ignores this text if ``alertLocalizationKey`` is set.
  open var alertBody: String? {
    get { self[\.alertBody] }
    set { self[\.alertBody] = newValue }
  }

  /// The key of the alert's text in the app's strings file.
  open var alertLocalizationKey: String? {
    get { self[\.alertLocalizationKey] }
    set { self[\.alertLocalizationKey] = newValue }
  }

  /// The names of fields, in the order of the placeholders in the localised text. Their values
  /// replace the placeholders.
  ///
  /// The value of such a field is a text, a number or a date; any other value becomes an empty
  /// text, and so does a missing field. A push has at most 100 characters of a text.
  open var alertLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.alertLocalizationArgs] }
    set { self[\.alertLocalizationArgs] = newValue }
  }

  /// The title of the alert. The server ignores this title if ``titleLocalizationKey`` is set.
  open var title: String? {
    get { self[\.title] }
    set { self[\.title] = newValue }
  }

  /// The key of the title in the app's strings file.
  open var titleLocalizationKey: String? {
    get { self[\.titleLocalizationKey] }
    set { self[\.titleLocalizationKey] = newValue }
  }

  /// The names of the fields for the placeholders of the localised title, as in
  /// ``alertLocalizationArgs``.
  open var titleLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.titleLocalizationArgs] }
    set { self[\.titleLocalizationArgs] = newValue }
  }

  /// The subtitle of the alert. The server ignores this subtitle if ``subtitleLocalizationKey`` is
  /// set.
  open var subtitle: String? {
    get { self[\.subtitle] }
    set { self[\.subtitle] = newValue }
  }

  /// The key of the subtitle in the app's strings file.
  open var subtitleLocalizationKey: String? {
    get { self[\.subtitleLocalizationKey] }
    set { self[\.subtitleLocalizationKey] = newValue }
  }

  /// The names of the fields for the placeholders of the localised subtitle, as in
  /// ``alertLocalizationArgs``.
  open var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.subtitleLocalizationArgs] }
    set { self[\.subtitleLocalizationArgs] = newValue }
  }

  /// The key of a text in the app's strings file: the label of the button that opens the app. With
  /// nil, the alert has only a button that dismisses it.
  open var alertActionLocalizationKey: String? {
    get { self[\.alertActionLocalizationKey] }
    set { self[\.alertActionLocalizationKey] = newValue }
  }

  /// The name of an image in the app's bundle. The system shows it while the app starts.
  open var alertLaunchImage: String? {
    get { self[\.alertLaunchImage] }
    set { self[\.alertLaunchImage] = newValue }
  }

  /// The name of a sound file in the app's bundle. `default` means the system's sound.
  open var soundName: String? {
    get { self[\.soundName] }
    set { self[\.soundName] = newValue }
  }

  /// The names of the fields whose values the notification contains, at most three.
  ///
  /// Only query subscriptions may have desired keys. If a zone or database subscription has any, or
  /// a query subscription has more than three, its save fails with `invalidArguments`. A push has
  /// at most 100 characters of a text; the notification log has the whole text.
  open var desiredKeys: [CKRecord.FieldKey]? {
    get { self[\.desiredKeys] }
    set { self[\.desiredKeys] = newValue }
  }

  /// Whether each notification raises the number on the app's icon by one; false unless set.
  open var shouldBadge: Bool {
    get { self[\.shouldBadge] }
    set { self[\.shouldBadge] = newValue }
  }

  /// Whether the notification starts the app in the background; false unless set. The payload then
  /// has `content-available`.
  open var shouldSendContentAvailable: Bool {
    get { self[\.shouldSendContentAvailable] }
    set { self[\.shouldSendContentAvailable] = newValue }
  }

  /// Whether an extension of the app may change the notification before the device shows it; false
  /// unless set. The payload then has `mutable-content`.
  open var shouldSendMutableContent: Bool {
    get { self[\.shouldSendMutableContent] }
    set { self[\.shouldSendMutableContent] = newValue }
  }

  /// The name of a group of actions that the app has registered.
  open var category: String? {
    get { self[\.category] }
    set { self[\.category] = newValue }
  }

  /// The collapse ID of the notifications. On the device, a notification replaces an earlier
  /// notification with the same collapse ID.
  ///
  /// The value is the ID itself and not the name of a field. APNs allows at most 64 bytes
  /// (`apns-collapse-id`). If the value is longer, the save of the subscription fails with
  /// `invalidArguments`.
  open var collapseIDKey: String? {
    get { self[\.collapseIDKey] }
    set { self[\.collapseIDKey] = newValue }
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes an info from an archive.
  public required init?(coder: NSCoder) {
    contents = Locked(NotificationInfo(coder: coder))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    contents.withLock { $0 }.encode(with: coder)
  }

  /// Returns a separate info with the same properties.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKNotificationInfo(contents.withLock { $0 })
  }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationInfo)?.model == model
  }

  open override var hash: Int { model.hashValue }
}
