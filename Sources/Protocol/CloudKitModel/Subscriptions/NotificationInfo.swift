/// What a subscription's notifications shall carry and show (`CKSubscription.NotificationInfo`).
public struct NotificationInfo: Sendable, Hashable {
  public var alertBody: String?
  public var alertLocalizationKey: String?
  /// Names of fields whose values the alert's localised text uses.
  public var alertLocalizationArgs: [String]?
  public var title: String?
  public var titleLocalizationKey: String?
  public var titleLocalizationArgs: [String]?
  public var subtitle: String?
  public var subtitleLocalizationKey: String?
  public var subtitleLocalizationArgs: [String]?
  public var alertActionLocalizationKey: String?
  public var alertLaunchImage: String?
  public var soundName: String?
  /// Names of at most three fields whose values the notification carries.
  public var desiredKeys: [String]?
  public var shouldBadge = false
  public var shouldSendContentAvailable = false
  public var shouldSendMutableContent = false
  public var category: String?
  /// The value of `apns-collapse-id`, at most 64 bytes.
  public var collapseIDKey: String?

  public init() {}

  /// Whether its notifications have high priority: more stands in `aps` than `content-available`.
  ///
  /// CloudKit counts every property but `shouldSendContentAvailable`. Desired keys and a collapse ID do not count
  /// here, for they do not stand in `aps`, and APNs refuses high priority for `content-available` alone.
  public var isHighPriority: Bool {
    shouldBadge || soundName != nil || hasAlert || category != nil || shouldSendMutableContent
  }

  /// Whether there is anything to put under `aps.alert`.
  public var hasAlert: Bool {
    alertBody != nil || alertLocalizationKey != nil || title != nil || titleLocalizationKey != nil
      || subtitle != nil || subtitleLocalizationKey != nil || alertActionLocalizationKey != nil
      || alertLaunchImage != nil
  }

  /// The fields whose values a notification needs: desired keys and localisation arguments.
  public var referencedFields: Set<String> {
    Set(desiredKeys ?? []).union(alertLocalizationArgs ?? []).union(titleLocalizationArgs ?? [])
      .union(subtitleLocalizationArgs ?? [])
  }

  /// Throws unless the desired keys and the collapse ID are within their limits and every name is
  /// a field name.
  public func validate() throws(ModelError) {
    if let desiredKeys {
      guard desiredKeys.count <= ServiceLimits.desiredKeysPerSubscription else {
        throw ModelError(
          .invalidSubscription, field: "desiredKeys",
          "desiredKeys has \(desiredKeys.count) keys; the limit is \(ServiceLimits.desiredKeysPerSubscription)"
        )
      }
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
