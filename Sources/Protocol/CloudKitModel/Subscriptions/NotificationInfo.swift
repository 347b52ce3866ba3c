/// The content and the presentation of a subscription's notifications
/// (`CKSubscription.NotificationInfo`).
///
/// A nil property adds nothing to the notification.
public struct NotificationInfo: Sendable, Hashable {
  /// The text of the alert.
  public var alertBody: String?
  /// The key of the alert's text in the app's strings. It takes precedence over ``alertBody``.
  public var alertLocalizationKey: String?
  /// The names of the fields whose values fill the placeholders of the localized alert text.
  public var alertLocalizationArgs: [String]?
  /// The title of the alert.
  public var title: String?
  /// The key of the title in the app's strings.
  public var titleLocalizationKey: String?
  /// The names of the fields whose values fill the placeholders of the localized title.
  public var titleLocalizationArgs: [String]?
  /// The subtitle of the alert.
  public var subtitle: String?
  /// The key of the subtitle in the app's strings.
  public var subtitleLocalizationKey: String?
  /// The names of the fields whose values fill the placeholders of the localized subtitle.
  public var subtitleLocalizationArgs: [String]?
  /// The key of the action button's label in the app's strings.
  public var alertActionLocalizationKey: String?
  /// The name of the image that the app shows while it starts from the notification.
  public var alertLaunchImage: String?
  /// The name of the sound file in the app, or `default`.
  public var soundName: String?
  /// The names of the fields whose values the notification carries, at most
  /// ``ServiceLimits/desiredKeysPerSubscription``. Only query subscriptions may have any.
  public var desiredKeys: [String]?
  /// Whether the notification increases the badge of the app.
  public var shouldBadge = false
  /// Whether the push starts the app in the background (`content-available`).
  public var shouldSendContentAvailable = false
  /// Whether an extension of the app may change the notification before the device shows it
  /// (`mutable-content`).
  public var shouldSendMutableContent = false
  /// The category of the notification, which selects its actions in the app.
  public var category: String?
  /// The value of `apns-collapse-id`, at most ``ServiceLimits/collapseIdentifierSize`` bytes. It is
  /// the literal value, not the name of a field.
  public var collapseIDKey: String?

  /// Creates an info without any content.
  public init() {}

  /// Whether the notifications have high priority at APNs. They have high priority when the
  /// payload's `aps` object has more than `content-available`.
  ///
  /// CloudKit counts every property except `shouldSendContentAvailable`. Petrel does not count
  /// desired keys and a collapse ID, because they are not part of `aps`. APNs refuses high priority
  /// for `content-available` alone.
  public var isHighPriority: Bool {
    shouldBadge || soundName != nil || hasAlert || category != nil || shouldSendMutableContent
  }

  /// Whether the notification has an `aps.alert`.
  public var hasAlert: Bool {
    alertBody != nil || alertLocalizationKey != nil || title != nil || titleLocalizationKey != nil
      || subtitle != nil || subtitleLocalizationKey != nil || alertActionLocalizationKey != nil
      || alertLaunchImage != nil
  }

  /// The names of all fields whose values a notification needs: the desired keys and the
  /// localization arguments.
  public var referencedFields: Set<String> {
    Set(desiredKeys ?? []).union(alertLocalizationArgs ?? []).union(titleLocalizationArgs ?? [])
      .union(subtitleLocalizationArgs ?? [])
  }

  /// The texts that a push can have, by the names of their properties.
  package static let texts:
    [(name: String, text: WritableKeyPath<NotificationInfo, String?> & Sendable)] = [
      ("alertBody", \.alertBody), ("alertLocalizationKey", \.alertLocalizationKey),
      ("title", \.title), ("titleLocalizationKey", \.titleLocalizationKey),
      ("subtitle", \.subtitle), ("subtitleLocalizationKey", \.subtitleLocalizationKey),
      ("alertActionLocalizationKey", \.alertActionLocalizationKey),
      ("alertLaunchImage", \.alertLaunchImage), ("soundName", \.soundName),
      ("category", \.category),
    ]

  /// Checks the number of desired keys, the lengths of the texts and of the collapse ID, and that each
  /// name is the name of a field.
  ///
  /// A text of more bytes than a push may have can never be sent, so it is refused.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidSubscription``.
  public func validate() throws(ModelError) {
    if let desiredKeys {
      guard desiredKeys.count <= ServiceLimits.desiredKeysPerSubscription else {
        throw ModelError(
          .invalidSubscription, field: "desiredKeys",
          "desiredKeys has \(desiredKeys.count) keys; the limit is \(ServiceLimits.desiredKeysPerSubscription)"
        )
      }
    }
    for (name, text) in Self.texts {
      guard let size = self[keyPath: text]?.utf8.count, size > ServiceLimits.pushPayloadSize else {
        continue
      }
      throw ModelError(
        .invalidSubscription, field: name,
        "\(name) has \(size) bytes; a push has at most \(ServiceLimits.pushPayloadSize) in all")
    }
    try validate(desiredKeys, as: "desiredKeys")
    try validate(alertLocalizationArgs, as: "alertLocalizationArgs")
    try validate(titleLocalizationArgs, as: "titleLocalizationArgs")
    try validate(subtitleLocalizationArgs, as: "subtitleLocalizationArgs")
    if let collapseIDKey {
      let size = collapseIDKey.utf8.count
      guard size <= ServiceLimits.collapseIdentifierSize else {
        throw ModelError(
          .invalidSubscription, field: "collapseIDKey",
          "collapseIDKey has \(size) bytes; the limit is \(ServiceLimits.collapseIdentifierSize)")
      }
    }
  }

  /// Checks that each name is the name of a field. The error names `property`.
  private func validate(_ fieldNames: [String]?, as property: String) throws(ModelError) {
    for name in fieldNames ?? [] {
      do {
        try Identifier.validateFieldName(name)
      } catch {
        throw ModelError(.invalidSubscription, field: property, "\(property): \(error.reason)")
      }
    }
  }
}
