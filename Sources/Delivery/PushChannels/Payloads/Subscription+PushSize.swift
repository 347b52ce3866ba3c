import CloudKitModel
import Foundation

extension Subscription {
  /// Checks that the subscription may be saved in the database. Checks also that a push can hold each text
  /// of its notification info, if the push has no other text.
  ///
  /// A push loses parts until it fits (``PushPayloadPart/inPruningOrder``). A text that is too long even by
  /// itself would be lost in each push.
  ///
  /// - Parameter subscriber: The user record name of the subscription's owner.
  /// - Throws: ``ModelError`` for the first mistake, which names the property.
  package func validate(
    of subscriber: String, in address: DatabaseAddress
  ) throws(ModelError) {
    try validate(in: address.scope)
    guard let info = notificationInfo else { return }
    for (name, text) in NotificationInfo.texts {
      guard let value = info[keyPath: text] else { continue }
      var lone = self
      lone.notificationInfo = NotificationInfo()
      lone.notificationInfo?[keyPath: text] = value
      let notification = SubscriptionNotification(
        database: address, subscriber: subscriber, subscription: lone,
        change: Change(
          event: .recordCreated, zoneID: .default, record: nil, notificationID: UUID(),
          timestamp: Timestamp(milliseconds: 0)))
      // A push whose one text does not fit shows nothing, so it is a background push.
      guard PushPayload(notification, badge: nil, reader: .apns).kind == .background else {
        continue
      }
      throw ModelError(
        .invalidSubscription, field: name,
        "\(name) has \(value.utf8.count) bytes, too many for a push of this subscription, which has at "
          + "most \(ServiceLimits.pushPayloadSize) in all")
    }
  }
}
