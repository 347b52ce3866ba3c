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
/// Strings of localisation arguments and desired keys are cut at
/// ``CloudKitModel/ServiceLimits/pushStringLength`` characters (100). A desired key is left out if
/// a payload cannot carry its value: bytes, assets, lists, and numbers that are not finite. Both
/// mark the payload as pruned (`ck.p`), so that the app knows to fetch the record.
public struct PushPayload: Sendable, Hashable {
  /// The reader of a payload, which decides its limits.
  public enum Reader: Sendable, Hashable, CaseIterable {
    /// APNs: at most ``CloudKitModel/ServiceLimits/pushPayloadSize`` bytes (4,096). The payload
    /// always has an `aps`, which wakes the app if there is nothing to show.
    case apns
    /// A browser, by Web Push: at most ``CloudKitModel/ServiceLimits/webPushPayloadSize`` bytes
    /// (3,993). Otherwise as for the courier.
    case webPush
    /// A reader of the web courier, or a webhook: any size. There is no `aps` if the subscription
    /// has no notification info.
    case courier
    /// A reader of the notification log. As for the courier, but strings are not cut.
    ///
    /// The desired values are beside the payload, with their types
    /// (``CloudKitModel/SubscriptionNotification/loggedValues``). The payload is marked as pruned
    /// if these lack a value.
    case log

    /// The number of characters at which a string is cut; `nil` for no limit.
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
  /// Whether the payload shows something or only wakes the app.
  public let kind: Push.Kind
  /// Whether a part is missing (`ck.p`).
  public var isPruned: Bool { !prunedParts.isEmpty }
  /// The missing parts. First come those that no payload can carry, then those that were removed
  /// for the limit, in the order of removal.
  public let prunedParts: [PushPayloadPart]

  /// The payload as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Creates the payload of a notification.
  ///
  /// A payload that is too large loses its parts in the order of ``PushPayloadPart/inPruningOrder``
  /// until it fits. Kind, subscription ID, database and notification ID always stay. They fit if
  /// `Subscription.validate(in:)` accepts the subscription ID.
  ///
  /// - Parameters:
  ///   - badge: The number to show if the subscription asks for a badge, this notification
  ///     included; `nil` to
  ///     send none.
  ///   - reader: The reader, which decides the limits.
  ///   - strings: The app's strings. The payload has the text for a key beside the key. It has the
  ///     key alone
  ///     if the strings lack the key.
  ///   - sizeLimit: The greatest number of bytes, if less than the reader's limit.
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
      for part in PushPayloadPart.inPruningOrder where bytes.count > limit {
        let whole = content
        part.remove(&content)
        if content == whole { continue }
        content.prunedParts.append(part)
        bytes = content.json()
      }
    }
    self.bytes = bytes
    kind = content.isHighPriority ? .alert : .background
    prunedParts = content.prunedParts
  }
}
