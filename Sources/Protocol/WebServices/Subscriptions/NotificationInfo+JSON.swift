import CloudKitModel

/// The `notificationInfo` dictionary of Apple's reference.
///
/// The reference has no members for title, subtitle, mutable content and collapse ID. In Petrel
/// these members have the names of the native properties. The member `additionalFields` contains
/// `desiredKeys`.
extension NotificationInfo: MessageObject {
  package static let schemaName: String? = "NotificationInfo"
  package static let blank = NotificationInfo()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.freeText("alertBody", &alertBody)
    try coder.freeText("alertLocalizationKey", &alertLocalizationKey)
    try coder.freeTexts("alertLocalizationArgs", &alertLocalizationArgs, "Names of fields.")
    try coder.freeText("title", &title)
    try coder.freeText("titleLocalizationKey", &titleLocalizationKey)
    try coder.freeTexts("titleLocalizationArgs", &titleLocalizationArgs, "Names of fields.")
    try coder.freeText("subtitle", &subtitle)
    try coder.freeText("subtitleLocalizationKey", &subtitleLocalizationKey)
    try coder.freeTexts("subtitleLocalizationArgs", &subtitleLocalizationArgs, "Names of fields.")
    try coder.freeText("alertActionLocalizationKey", &alertActionLocalizationKey)
    try coder.freeText("alertLaunchImage", &alertLaunchImage)
    try coder.freeText("soundName", &soundName)
    try coder.member(
      "additionalFields", or: ["desiredKeys"], &desiredKeys, .optional,
      """
      At most \(ServiceLimits.desiredKeysPerSubscription) names of fields. Only for query subscriptions. \
      `desiredKeys` is also accepted.
      """)
    try coder.written("shouldBadge", &shouldBadge)
    try coder.written("shouldSendContentAvailable", &shouldSendContentAvailable)
    try coder.written("shouldSendMutableContent", &shouldSendMutableContent)
    try coder.freeText("category", &category)
    try coder.optional(
      "collapseIDKey", &collapseIDKey,
      "At most \(ServiceLimits.collapseIdentifierSize) bytes.")
  }
}
