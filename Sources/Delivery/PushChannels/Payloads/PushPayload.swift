import CloudKitModel
import Foundation
import JSONCoding
import StringTables

/// The JSON of one subscription notification: `{"aps": {…}, "ck": {…}}`, as iCloud sends it.
///
/// ```swift
/// let payload = PushPayload(notification, badge: 3, reader: .apns)
/// // payload.text: {"aps":{"alert":"New artwork","badge":3},"ck":{"ce":2,…,"qry":{"sid":…}}}
/// ```
///
/// The strings of localisation arguments and desired keys are cut at
/// ``CloudKitModel/ServiceLimits/pushStringLength`` characters. A desired key whose value a payload
/// cannot carry (bytes, assets, lists, numbers that are not finite) is left out. Both mark the
/// payload as pruned (`ck.p`), so that the app knows to fetch the record.
public struct PushPayload: Sendable, Hashable {
  /// The reader of the payload.
  public enum Reader: Sendable, Hashable, CaseIterable {
    /// For APNs: at most ``CloudKitModel/ServiceLimits/pushPayloadSize`` bytes, with an `aps` that
    /// wakes the app if there is nothing to show.
    case apns
    /// For Web Push: at most ``CloudKitModel/ServiceLimits/webPushPayloadSize`` bytes, otherwise as
    /// for the courier.
    case webPush
    /// For the web courier: of any size, and without `aps` if the subscription has no notification
    /// info.
    case courier
    /// For a reader of the notification log: as for the courier, but strings are not cut. The
    /// desired values are beside it with their types
    /// (``CloudKitModel/SubscriptionNotification/loggedValues``). It is marked as pruned if these
    /// lack a value.
    case log

    /// The length in characters at which a string is cut; nil for no limit.
    var stringLimit: Int? { self == .log ? nil : ServiceLimits.pushStringLength }

    /// The most bytes of a payload; nil for no limit.
    var sizeLimit: Int? {
      switch self {
      case .apns: ServiceLimits.pushPayloadSize
      case .webPush: ServiceLimits.webPushPayloadSize
      case .courier, .log: nil
      }
    }
  }

  /// UTF-8 JSON.
  public let bytes: [UInt8]
  /// Whether it only wakes the app, or still has more in `aps`.
  public let kind: Push.Kind
  /// Whether a part of it is missing (`ck.p`).
  public var isPruned: Bool { !prunedParts.isEmpty }
  /// The missing parts: first those that no payload of the format can carry, then those removed to
  /// fit the size limit, in the order of removal.
  public let prunedParts: [PushPayloadPart]

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Writes the payload of `notification`.
  ///
  /// A payload that is too large for its format loses its parts in the order of
  /// ``PushPayloadPart/inPruningOrder`` until it fits. Type, subscription ID, database and
  /// notification ID always stay; they fit if `Subscription.validate(in:)` accepts the subscription
  /// ID.
  ///
  /// - Parameters:
  ///   - badge: the number to show if the subscription asks for a badge, including this
  ///     notification; nil to send none.
  ///   - strings: the app's strings. The payload has the text for a key beside the key, or the key
  ///     alone if the strings lack it.
  ///   - sizeLimit: the most bytes, if less than the format allows.
  /// - Complexity: linear in the size of the output; an oversized payload is written once for each
  ///   part removed.
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
