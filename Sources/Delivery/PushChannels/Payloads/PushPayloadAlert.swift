import CloudKitModel
import JSONCoding
import StringTables

/// The text of an alert, or of its title or subtitle: a plain text, or a key of the app's localised
/// strings with its arguments, and the resulting text if the strings are known.
struct PushPayloadAlertText: Equatable {
  var text: String?
  var key: String?
  var arguments: [String]?

  var isEmpty: Bool { text == nil && key == nil && arguments == nil }

  init() {}

  /// A key replaces the text. Arguments without a key are dropped.
  init(
    text: String?, key: String?, argumentNames: [String]?, fields: RecordFields<RecordValue>,
    texts: inout PushPayloadTexts, strings: PetrelStrings?
  ) {
    guard let key else {
      self.text = text
      return
    }
    self.key = key
    arguments = argumentNames?.map { texts.argument(fields[$0]) }
    self.text = strings?.text(forKey: key, arguments: arguments ?? [])
  }

  func write(to writer: inout JSONWriter, text textName: String, prefix: String) {
    writer.member(textName, ifPresent: text)
    writer.member(prefix + "loc-key", ifPresent: key)
    writer.member(prefix + "loc-args", ifPresent: arguments)
  }
}

/// The `alert` of a payload.
struct PushPayloadAlert: Equatable {
  var title = PushPayloadAlertText()
  var subtitle = PushPayloadAlertText()
  var body = PushPayloadAlertText()
  var actionKey: String?
  /// The text for ``actionKey``.
  var action: String?
  var launchImage: String?

  var isEmpty: Bool { body.isEmpty && hasOnlyBody }

  private var hasOnlyBody: Bool {
    title.isEmpty && subtitle.isEmpty && actionKey == nil && launchImage == nil
  }

  init() {}

  init(
    _ info: NotificationInfo, fields: RecordFields<RecordValue>, texts: inout PushPayloadTexts,
    strings: PetrelStrings?
  ) {
    title = PushPayloadAlertText(
      text: info.title, key: info.titleLocalizationKey,
      argumentNames: info.titleLocalizationArgs, fields: fields, texts: &texts, strings: strings)
    subtitle = PushPayloadAlertText(
      text: info.subtitle, key: info.subtitleLocalizationKey,
      argumentNames: info.subtitleLocalizationArgs, fields: fields, texts: &texts,
      strings: strings)
    body = PushPayloadAlertText(
      text: info.alertBody, key: info.alertLocalizationKey,
      argumentNames: info.alertLocalizationArgs, fields: fields, texts: &texts, strings: strings)
    actionKey = info.alertActionLocalizationKey
    action = actionKey.flatMap { strings?.text(forKey: $0) }
    launchImage = info.alertLaunchImage
  }

  /// Writes nothing for an empty alert, a plain string for one with only the body's text, and a
  /// dictionary for all others.
  func write(to writer: inout JSONWriter) {
    if isEmpty { return }
    if hasOnlyBody, body.key == nil, let text = body.text {
      writer.member("alert", text)
      return
    }
    writer.key("alert")
    writer.object { writer in
      title.write(to: &writer, text: "title", prefix: "title-")
      subtitle.write(to: &writer, text: "subtitle", prefix: "subtitle-")
      body.write(to: &writer, text: "body", prefix: "")
      writer.member("action", ifPresent: action)
      writer.member("action-loc-key", ifPresent: actionKey)
      writer.member("launch-image", ifPresent: launchImage)
    }
  }
}
