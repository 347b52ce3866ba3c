import CloudKitModel
import Foundation
import JSONCoding
import StringTables

/// The JSON of one subscription notification, in the format of iCloud: `{"aps": {…}, "ck": {…}}`.
///
/// ```swift
/// let payload = PushPayload(notification, badge: 3, reader: .apns)
/// // payload.text: {"aps":{"alert":"New artwork","badge":3},"ck":{"ce":2,…,"qry":{"sid":…}}}
/// ```
///
/// Apple does not document the format. Petrel follows published captures of real payloads, so that
/// `CKNotification(fromRemoteNotificationDictionary:)` on a device reads it.
///
/// Strings of localisation arguments and desired keys are cut at `ServiceLimits.pushStringLength`
/// characters (100). A desired key (a field whose value the subscription wants in the notification)
/// is left out if a payload cannot carry its value. Such values are bytes, assets, lists, and
/// numbers that are not finite. A cut string or a missing value marks the payload as pruned
/// (`ck.p`), so that the app knows to fetch the record.
public struct PushPayload: Sendable, Hashable {
  /// The reader of a payload, which decides the payload's limits.
  public enum Reader: Sendable, Hashable, CaseIterable {
    /// APNs: at most `ServiceLimits.pushPayloadSize` bytes (4,096). The payload always has an
    /// `aps`, which wakes the app if there is nothing to show.
    case apns
    /// A browser, by Web Push: at most `ServiceLimits.webPushPayloadSize` bytes (3,993). Otherwise
    /// the same as ``courier``.
    case webPush
    /// A webhook, or a reader of the web courier (the URL at which programs wait for
    /// notifications): any size. There is no `aps` if the subscription has no notification info.
    case courier
    /// A reader of the notification log. The same as ``courier``, but strings are not cut, and the
    /// payload has no desired values.
    ///
    /// The log has the desired values beside the payload, with their types
    /// (`SubscriptionNotification.loggedValues`). The payload is marked as pruned if these values
    /// are not complete.
    case log

    /// The greatest number of characters of a string, which is cut there; `nil` for no limit.
    var stringLimit: Int? { self == .log ? nil : ServiceLimits.pushStringLength }

    /// The greatest number of bytes of a payload; `nil` for no limit.
    var sizeLimit: Int? {
      switch self {
      case .apns: ServiceLimits.pushPayloadSize
      case .webPush: ServiceLimits.webPushPayloadSize
      case .courier, .log: nil
      }
    }
  }

  /// The payload as UTF-8 JSON.
  public let bytes: [UInt8]
  /// The type of the push: ``Push/Kind/background`` if `aps` has at most `content-available`,
  /// otherwise ``Push/Kind/alert``.
  public let kind: Push.Kind
  /// Whether a part is missing (`ck.p`).
  public var isPruned: Bool { !prunedParts.isEmpty }
  /// The missing parts. First come values that the payload cannot carry and the ends of cut
  /// strings. Then come the parts that were removed for the size limit, in the order of removal.
  public let prunedParts: [PushPayloadPart]

  /// The payload as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Creates the payload of a notification.
  ///
  /// A payload that is too large loses its parts in the order of ``PushPayloadPart/inPruningOrder``
  /// until it fits. If a part that goes later frees space, the shortened texts get it back. The kind, the
  /// subscription ID, the database, the container identifier and the notification ID always stay. These parts fit if `Subscription.validate(in:)` accepts the subscription ID.
  ///
  /// - Parameters:
  ///   - badge: The number to show if the subscription asks for a badge. It counts this
  ///     notification too. `nil` to send no number.
  ///   - reader: The reader of the payload, which decides the limits.
  ///   - strings: The app's localised strings. The payload has the text for a key beside the key,
  ///     or the key alone if the strings do not have the key. `nil` gives keys alone.
  ///   - sizeLimit: A greatest number of bytes. The smaller of this number and the reader's limit
  ///     applies; `nil` leaves the reader's limit.
  /// - Complexity: O(*n* · (*p* + 1)), where *n* is the size of the output and *p* the number of
  ///   removed parts: each removal writes the payload anew.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, reader: Reader,
    strings: PetrelStrings? = nil,
    sizeLimit: Int? = nil
  ) {
    var content = PushPayloadContent(notification, badge: badge, reader: reader, strings: strings)
    var bytes = content.json()
    if let limit = [reader.sizeLimit, sizeLimit].compactMap(\.self).min() {
      let alert = content.alert
      for part in PushPayloadPart.inPruningOrder where bytes.count > limit {
        let whole = content
        // The first removal adds the mark `"p":1,`.
        let mark = content.prunedParts.isEmpty ? 6 : 0
        part.remove(&content, bytes.count + mark - limit)
        if content == whole { continue }
        content.prunedParts.append(part)
        bytes = content.json()
      }
      for part in content.prunedParts.dropLast().reversed() {
        guard let text = part.shortenedText, content.alert[keyPath: text].text != nil else {
          continue
        }
        content.alert[keyPath: text] = alert[keyPath: text]
        content.alert[keyPath: text].shorten(by: content.json().count - limit)
        if content.alert[keyPath: text] == alert[keyPath: text] {
          content.prunedParts.removeAll { $0 == part }
        }
        bytes = content.json()
      }
    }
    self.bytes = bytes
    kind = content.isHighPriority ? .alert : .background
    prunedParts = content.prunedParts
  }
}
