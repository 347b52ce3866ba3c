import CloudKitModel
import JSONCoding
import StringTables

/// The body, title or subtitle of an alert: a plain text, or a key of the app's localised strings
/// with its arguments. If the server has the app's strings, the text for the key is beside the key.
struct PushPayloadAlertText: Equatable {
  /// The plain text, or the text for the key; `nil` for none.
  var text: String?
  /// The key of the localised string; `nil` for a plain text.
  var key: String?
  /// The arguments of the localised string; `nil` if the subscription names none.
  var arguments: [String]?

  var isEmpty: Bool { text == nil && key == nil && arguments == nil }

  init() {}

  /// Creates a text. A key replaces the plain text. Arguments without a key are ignored.
  ///
  /// - Parameters:
  ///   - argumentNames: The names of the fields whose values are the arguments.
  ///   - fields: The fields of the changed record.
  ///   - texts: The converter of values to strings. It notes a cut string.
  ///   - strings: The app's localised strings; `nil` if the server does not have them.
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

  /// Cuts the fewest characters off the end of a plain text that make the payload smaller by this number
  /// of bytes. `ServiceLimits.pushStringLength` characters stay in any case.
  mutating func shorten(by count: Int) {
    guard key == nil, let text else { return }
    var end = text.endIndex
    let least = text.index(
      text.startIndex, offsetBy: ServiceLimits.pushStringLength, limitedBy: text.endIndex)
    guard let least else { return }
    var left = count
    while left > 0, end > least {
      let next = text.index(before: end)
      left -= JSONWriter.size(of: text[next..<end])
      end = next
    }
    self.text = String(text[..<end])
  }

  /// Writes the members of the text into the JSON of the alert.
  ///
  /// - Parameters:
  ///   - textName: The name of the member with the text, such as `title`.
  ///   - prefix: The prefix of `loc-key` and `loc-args`, such as `title-`.
  func write(to writer: inout JSONWriter, text textName: String, prefix: String) {
    writer.member(textName, ifPresent: text)
    writer.member(prefix + "loc-key", ifPresent: key)
    writer.member(prefix + "loc-args", ifPresent: arguments)
  }
}

/// The `alert` of a payload: the texts to show, the label of the action button and the launch
/// image.
struct PushPayloadAlert: Equatable {
  var title = PushPayloadAlertText()
  var subtitle = PushPayloadAlertText()
  var body = PushPayloadAlertText()
  var actionKey: String?
  /// The text for ``actionKey``; `nil` if there is no key, or if the server does not have the
  /// string.
  var action: String?
  /// The name of the launch image (`launch-image`).
  var launchImage: String?

  var isEmpty: Bool { body.isEmpty && hasOnlyBody }

  private var hasOnlyBody: Bool {
    title.isEmpty && subtitle.isEmpty && actionKey == nil && launchImage == nil
  }

  init() {}

  /// Creates the alert of a notification info.
  ///
  /// - Parameters:
  ///   - fields: The fields of the changed record, whose values are the arguments of localised
  ///     strings.
  ///   - texts: The converter of values to strings. It notes a cut string.
  ///   - strings: The app's localised strings; `nil` if the server does not have them.
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

  /// Writes the alert. An empty alert writes nothing. An alert with only the text of the body is a
  /// string; any other alert is a dictionary.
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
