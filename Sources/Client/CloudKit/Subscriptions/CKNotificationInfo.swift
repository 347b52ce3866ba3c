package import CloudKitModel

/// What a subscription's notifications carry and show: `CKSubscription.NotificationInfo`.
///
/// Nothing set means a silent push. For background delivery, set only `shouldSendContentAvailable`: any other property
/// makes the notification one of high priority, which APNs delivers at once, and which the user must have allowed.
/// `desiredKeys` and `collapseIDKey` alone do not, for APNs refuses high priority where nothing but
/// `content-available` stands in `aps`.
open class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  private let contents: Locked<NotificationInfo>

  /// An info in which nothing is set.
  public override init() {
    contents = Locked(NotificationInfo())
  }

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

  /// The info as the server understands it: a list without elements counts as not set.
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

  private subscript<Value>(property: WritableKeyPath<NotificationInfo, Value>) -> Value {
    get { contents.withLock { $0[keyPath: property] } }
    set { contents.withLock { $0[keyPath: property] = newValue } }
  }

  /// The text of the alert. Not used when `alertLocalizationKey` is set.
  open var alertBody: String? {
    get { self[\.alertBody] }
    set { self[\.alertBody] = newValue }
  }

  /// The key of the alert's text in the app's strings file.
  open var alertLocalizationKey: String? {
    get { self[\.alertLocalizationKey] }
    set { self[\.alertLocalizationKey] = newValue }
  }

  /// The names of the fields whose values the localised alert uses: strings, numbers and dates.
  open var alertLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.alertLocalizationArgs] }
    set { self[\.alertLocalizationArgs] = newValue }
  }

  /// The title of the alert. Not used when `titleLocalizationKey` is set.
  open var title: String? {
    get { self[\.title] }
    set { self[\.title] = newValue }
  }

  open var titleLocalizationKey: String? {
    get { self[\.titleLocalizationKey] }
    set { self[\.titleLocalizationKey] = newValue }
  }

  open var titleLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.titleLocalizationArgs] }
    set { self[\.titleLocalizationArgs] = newValue }
  }

  /// The subtitle of the alert. Not used when `subtitleLocalizationKey` is set.
  open var subtitle: String? {
    get { self[\.subtitle] }
    set { self[\.subtitle] = newValue }
  }

  open var subtitleLocalizationKey: String? {
    get { self[\.subtitleLocalizationKey] }
    set { self[\.subtitleLocalizationKey] = newValue }
  }

  open var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
    get { self[\.subtitleLocalizationArgs] }
    set { self[\.subtitleLocalizationArgs] = newValue }
  }

  /// The key of the text of the button that opens the app; nil leaves only one that dismisses.
  open var alertActionLocalizationKey: String? {
    get { self[\.alertActionLocalizationKey] }
    set { self[\.alertActionLocalizationKey] = newValue }
  }

  /// The name of an image in the app's bundle that is shown while the app starts.
  open var alertLaunchImage: String? {
    get { self[\.alertLaunchImage] }
    set { self[\.alertLaunchImage] = newValue }
  }

  /// The name of a sound file in the app's bundle, or `default`.
  open var soundName: String? {
    get { self[\.soundName] }
    set { self[\.soundName] = newValue }
  }

  /// The names of at most three fields whose values the notification carries; query subscriptions
  /// only. Strings may be cut at 100 characters.
  open var desiredKeys: [CKRecord.FieldKey]? {
    get { self[\.desiredKeys] }
    set { self[\.desiredKeys] = newValue }
  }

  /// Whether each notification raises the app's badge by one.
  open var shouldBadge: Bool {
    get { self[\.shouldBadge] }
    set { self[\.shouldBadge] = newValue }
  }

  /// Whether the notification wakes the app in the background.
  open var shouldSendContentAvailable: Bool {
    get { self[\.shouldSendContentAvailable] }
    set { self[\.shouldSendContentAvailable] = newValue }
  }

  /// Whether the notification passes through the app's service extension.
  open var shouldSendMutableContent: Bool {
    get { self[\.shouldSendMutableContent] }
    set { self[\.shouldSendMutableContent] = newValue }
  }

  /// The name of a group of actions.
  open var category: String? {
    get { self[\.category] }
    set { self[\.category] = newValue }
  }

  /// Notifications with the same value here replace each other on the device. At most 64 bytes.
  open var collapseIDKey: String? {
    get { self[\.collapseIDKey] }
    set { self[\.collapseIDKey] = newValue }
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    contents = Locked(NotificationInfo(coder: coder))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    contents.withLock { $0 }.encode(with: coder)
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    CKNotificationInfo(contents.withLock { $0 })
  }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationInfo)?.model == model
  }

  open override var hash: Int { model.hashValue }
}
