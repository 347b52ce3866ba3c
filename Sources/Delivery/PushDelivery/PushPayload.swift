import CloudKitModel
import Foundation
import JSONCoding
import StringTables

/// The JSON of one subscription notification: `{"aps": {…}, "ck": {…}}`, as iCloud sends it.
///
/// ```swift
/// let payload = PushPayload(notification, badge: 3, form: .apns)
/// // payload.text: {"aps":{"alert":"New artwork","badge":3},"ck":{"ce":2,…,"qry":{"sid":…}}}
/// ```
///
/// The strings of localisation arguments and desired keys are cut at
/// ``CloudKitModel/ServiceLimits/pushStringLength`` characters. A desired key whose value a payload
/// cannot carry (bytes, assets, lists, numbers that are not finite) is left out. Either marks the
/// payload as pruned (`ck.p`), so that the app knows to fetch the record.
public struct PushPayload: Sendable, Hashable {
  /// Who reads the payload.
  public enum Form: Sendable, Hashable, CaseIterable {
    /// For APNs: at most ``CloudKitModel/ServiceLimits/pushPayloadSize`` bytes, with an `aps` that
    /// wakes the app when there is nothing to show.
    case apns
    /// For Web Push: at most ``CloudKitModel/ServiceLimits/webPushPayloadSize`` bytes, otherwise as
    /// for the courier.
    case webPush
    /// For the web courier: of any size, and with no `aps` when the subscription has no
    /// notification info.
    case courier
    /// For a reader of the notification log: as for the courier, but strings are not cut. The desired
    /// values are not in it: they stand beside it with their types
    /// (``CloudKitModel/SubscriptionNotification/loggedValues``). It is pruned where these lack a value.
    case log

    /// Characters of a string before it is cut; nil for no limit.
    var stringLimit: Int? { self == .log ? nil : ServiceLimits.pushStringLength }

    /// Bytes that a payload may have; nil for any number.
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
  /// Whether it only wakes the app, or has more than that left in `aps`.
  public let kind: Push.Kind
  /// Whether something that belongs in it is missing (`ck.p`).
  public var isPruned: Bool { !prunedParts.isEmpty }
  /// What is missing: what no payload of the form can carry, then what had to go to fit the size limit, in the order in which
  /// it went.
  public let prunedParts: [PushPayloadPart]

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Writes the payload of `notification`.
  ///
  /// A payload that is too large for its form loses its parts in the order of
  /// ``PushPayloadPart/inPruningOrder`` until it fits. Type, subscription ID, database and
  /// notification ID always stay; they fit as long as the subscription ID is one that
  /// `Subscription.validate(in:)` accepts.
  ///
  /// - Parameters:
  ///   - badge: the number to show if the subscription asks for a badge, after counting this
  ///     notification; nil to send none.
  ///   - strings: the app's strings. Beside a key of theirs the payload has the text that they make;
  ///     without them, and without the key in them, the key alone.
  ///   - sizeLimit: bytes that the payload may have, where that is less than the form allows.
  /// - Complexity: linear in the size of what is written; an oversized payload is written once for
  ///   each part that has to go.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, form: Form,
    strings: PetrelStrings? = nil,
    sizeLimit: Int? = nil
  ) {
    var content = PushPayloadContent(notification, badge: badge, form: form, strings: strings)
    var bytes = content.json()
    if let limit = [form.sizeLimit, sizeLimit].compactMap(\.self).min() {
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
