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
  /// The text for the reason why the server has no route to the device.
  var lackOfRoute: String {
    guard let channel = PushChannelRegistry.channel(of: kind) else {
      return "the server does not push to a reader of the web courier"
    }
    return channel.lackOfRoute(to: self)
  }
}
