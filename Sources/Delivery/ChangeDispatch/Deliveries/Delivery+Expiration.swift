import CloudKitModel
import PushChannels
import StoreModel

extension Delivery {
  /// The time after which the worker no longer sends the delivery. The channel of the device
  /// decides the lifetime, which begins with the entry in the notification log.
  var expiration: Timestamp {
    let isHighPriority = notification.subscription.notificationInfo?.isHighPriority == true
    let kind: Push.Kind = isHighPriority ? .alert : .background
    let lifetime = PushChannelRegistry.channel(of: device.kind)?.lifetime(of: kind)
    return logged.advanced(bySeconds: lifetime ?? kind.lifetime)
  }

  /// The key of deliveries to the same device that a newer one can replace; `nil` if each delivery
  /// is sent.
  var mergeKey: DeliveryMergeKey? {
    device.kind.mergesDeliveries ? DeliveryMergeKey(notification.subscription) : nil
  }
}

extension DeviceToken {
  /// Returns the reason for which a push to a refused device is abandoned.
  func refusalText(_ answer: PushAnswer) -> String {
    guard let topic = answer.topic else { return answer.reason }
    let app =
      bundleID == nil ? "named no bundle ID, and this is the container's first topic" : "named it"
    return
      "\(answer.reason): the device token belongs to another app than the topic '\(topic)' (the "
      + "registration \(app)); the registration is kept, and gets pushes again when the app registers with "
      + "its own bundle ID, which must be one of the topics of 'containers.\(container).apns'"
  }

  var lackOfRoute: String {
    guard let channel = PushChannelRegistry.channel(of: kind) else {
      return "the server does not push to a reader of the web courier"
    }
    return channel.lackOfRoute(to: self)
  }
}
