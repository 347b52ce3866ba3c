import CloudKitModel
import JSONCoding

extension NotificationInfo {
  /// Reads a `notificationInfo` dictionary. The keys that Apple's reference lacks (title, subtitle,
  /// mutable content, collapse ID) are named as the native properties.
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init()
    alertBody = try reader.optionalFreeText("alertBody")
    alertLocalizationKey = try reader.optionalFreeText("alertLocalizationKey")
    alertLocalizationArgs = try reader.optionalFreeTexts("alertLocalizationArgs")
    title = try reader.optionalFreeText("title")
    titleLocalizationKey = try reader.optionalFreeText("titleLocalizationKey")
    titleLocalizationArgs = try reader.optionalFreeTexts("titleLocalizationArgs")
    subtitle = try reader.optionalFreeText("subtitle")
    subtitleLocalizationKey = try reader.optionalFreeText("subtitleLocalizationKey")
    subtitleLocalizationArgs = try reader.optionalFreeTexts("subtitleLocalizationArgs")
    alertActionLocalizationKey = try reader.optionalFreeText("alertActionLocalizationKey")
    alertLaunchImage = try reader.optionalFreeText("alertLaunchImage")
    soundName = try reader.optionalFreeText("soundName")
    desiredKeys = try reader.optionalStrings("additionalFields", "desiredKeys")
    shouldBadge = try reader.optionalBool("shouldBadge") ?? false
    shouldSendContentAvailable = try reader.optionalBool("shouldSendContentAvailable") ?? false
    shouldSendMutableContent = try reader.optionalBool("shouldSendMutableContent") ?? false
    category = try reader.optionalFreeText("category")
    collapseIDKey = try reader.optionalString("collapseIDKey")
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("alertBody", ifPresent: alertBody)
      writer.member("alertLocalizationKey", ifPresent: alertLocalizationKey)
      writer.member("alertLocalizationArgs", ifPresent: alertLocalizationArgs)
      writer.member("title", ifPresent: title)
      writer.member("titleLocalizationKey", ifPresent: titleLocalizationKey)
      writer.member("titleLocalizationArgs", ifPresent: titleLocalizationArgs)
      writer.member("subtitle", ifPresent: subtitle)
      writer.member("subtitleLocalizationKey", ifPresent: subtitleLocalizationKey)
      writer.member("subtitleLocalizationArgs", ifPresent: subtitleLocalizationArgs)
      writer.member("alertActionLocalizationKey", ifPresent: alertActionLocalizationKey)
      writer.member("alertLaunchImage", ifPresent: alertLaunchImage)
      writer.member("soundName", ifPresent: soundName)
      writer.member("additionalFields", ifPresent: desiredKeys)
      writer.member("shouldBadge", shouldBadge)
      writer.member("shouldSendContentAvailable", shouldSendContentAvailable)
      writer.member("shouldSendMutableContent", shouldSendMutableContent)
      writer.member("category", ifPresent: category)
      writer.member("collapseIDKey", ifPresent: collapseIDKey)
    }
  }
}
