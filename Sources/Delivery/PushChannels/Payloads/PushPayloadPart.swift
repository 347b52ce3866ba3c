/// A part of a notification that a payload may lack.
public struct PushPayloadPart: Sendable, Hashable, CustomStringConvertible {
  /// The name of the part in texts. Two parts with the same name are equal.
  public let description: String
  /// Removes the part from the content of a payload. The second argument is the number of bytes that are
  /// too many; only a part that can be shortened needs it.
  let remove: @Sendable (inout PushPayloadContent, _ excess: Int) -> Void
  /// The text of which the part is the end; `nil` for other parts.
  let shortenedText: (WritableKeyPath<PushPayloadAlert, PushPayloadAlertText> & Sendable)?

  /// Creates a part that goes as a whole.
  init(_ description: String, remove: @escaping @Sendable (inout PushPayloadContent) -> Void) {
    self.description = description
    self.remove = { content, _ in remove(&content) }
    shortenedText = nil
  }

  /// Creates the end of a text, of which no more goes than must.
  private init(
    _ description: String,
    endOf text: WritableKeyPath<PushPayloadAlert, PushPayloadAlertText> & Sendable
  ) {
    self.description = description
    remove = { content, excess in content.alert[keyPath: text].shorten(by: excess) }
    shortenedText = text
  }

  /// The values of desired keys that no payload can carry.
  static let unsendableValues = PushPayloadPart("values that no push can carry") { _ in }
  /// The ends of strings after the first `ServiceLimits.pushStringLength` characters (100).
  static let endsOfStrings = PushPayloadPart("ends of long strings") { _ in }

  /// The parts in the order in which they are removed from a payload that is too large.
  ///
  /// The values of desired keys are removed first, as Apple's page of `CKNotification.isPruned`
  /// says. Next are parts that an app can fetch, and then the sound and the texts. The body, the subtitle
  /// and the title are shortened before one of them goes; what is left of the body is near the end.
  ///
  /// The container identifier always stays: a published payload of iCloud's has it, and lacks all else.
  ///
  /// Apple's lists do not name the category and the subscriber. The category follows the action
  /// key, because both decide which buttons are shown. The subscriber is last.
  public static let inPruningOrder: [PushPayloadPart] = [
    PushPayloadPart("values of desired keys") { $0.desiredValues = [] },
    PushPayloadPart("record ID or zone ID") {
      $0.recordName = nil
      $0.recordType = nil
      $0.zone = nil
    },
    PushPayloadPart("reason") { $0.reason = nil },
    PushPayloadPart("sound") { $0.sound = nil },
    PushPayloadPart("launch image") { $0.alert.launchImage = nil },
    PushPayloadPart("action key") {
      $0.alert.actionKey = nil
      $0.alert.action = nil
    },
    PushPayloadPart("category") { $0.category = nil },
    PushPayloadPart("end of the body", endOf: \.body),
    PushPayloadPart("end of the subtitle", endOf: \.subtitle),
    PushPayloadPart("end of the title", endOf: \.title),
    PushPayloadPart("subtitle") { $0.alert.subtitle = PushPayloadAlertText() },
    PushPayloadPart("title") { $0.alert.title = PushPayloadAlertText() },
    PushPayloadPart("localisation arguments") { $0.alert.body.arguments = nil },
    PushPayloadPart("localisation key") { $0.alert.body.key = nil },
    PushPayloadPart("body") { $0.alert.body.text = nil },
    PushPayloadPart("badge") { $0.badge = nil },
    PushPayloadPart("subscriber") { $0.subscriber = nil },
  ]

  public static func == (left: PushPayloadPart, right: PushPayloadPart) -> Bool {
    left.description == right.description
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
  }
}
