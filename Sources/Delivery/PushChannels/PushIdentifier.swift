import CloudKitModel
import Cryptography
import Foundation

/// The functions that derive the identifiers of a push from its content. The same push always gets
/// the same identifiers.
enum PushIdentifier {
  /// Returns the `apns-id` of a notification for a device.
  ///
  /// The identifier is a UUID of version 8 (RFC 9562, section 5.8), made from a SHA-256 hash as in
  /// appendix B.2. The hash covers the four parameters. The length of each text precedes it, so
  /// that different parameters never give the same bytes.
  static func apnsID(
    notificationID: UUID, subscriptionID: String, subscriber: String, deviceToken: String
  ) -> UUID {
    var name = withUnsafeBytes(of: notificationID.uuid) { Array($0) }
    for part in [subscriptionID, subscriber, deviceToken] {
      withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { name.append(contentsOf: $0) }
      name.append(contentsOf: part.utf8)
    }
    var hash = SHA256.hash(name)
    hash[6] = hash[6] & 0x0F | 0x80
    hash[8] = hash[8] & 0x3F | 0x80
    return UUID(
      uuid: (
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7], hash[8], hash[9],
        hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
      ))
  }

  /// Returns the value of `apns-collapse-id` for a subscription's collapse key: the key itself.
  ///
  /// The function returns a hash of the key instead if the key has more than 64 bytes, a control
  /// character, or a space at one of its ends. APNs permits 64 bytes. RFC 9110, section 5.5,
  /// forbids such characters in a header field, except tabs in the middle. Equal keys have equal
  /// hashes. An empty key gives `nil`.
  static func collapseID(_ key: String) -> String? {
    if key.isEmpty { return nil }
    let bytes = key.utf8
    let isHeaderValue =
      bytes.count <= ServiceLimits.collapseIdentifierSize
      && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      && bytes.first != UInt8(ascii: " ") && bytes.last != UInt8(ascii: " ")
    return isHeaderValue ? key : Base64URL.encode(SHA256.hash(bytes))
  }
}

extension SubscriptionNotification {
  /// Returns the identifier of the delivery of this notification to one device. Every call and
  /// every server returns the same identifier.
  public func deliveryID(forDevice deviceToken: String) -> UUID {
    PushIdentifier.apnsID(
      notificationID: change.notificationID, subscriptionID: subscription.subscriptionID,
      subscriber: subscriber, deviceToken: deviceToken)
  }
}
