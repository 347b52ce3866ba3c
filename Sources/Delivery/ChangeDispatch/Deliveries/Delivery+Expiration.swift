import CloudKitModel
import PushChannels
import StoreModel

extension Delivery {
  /// The time at which the delivery expires. The worker does not send it afterwards. The channel
  /// decides the lifetime, which counts from the log entry.
  var expiration: Timestamp {
    let isHighPriority = notification.subscription.notificationInfo?.isHighPriority == true
    let kind: Push.Kind = isHighPriority ? .alert : .background
    let lifetime = PushChannelRegistry.channel(of: device.kind)?.lifetime(of: kind)
    return logged.advanced(bySeconds: lifetime ?? kind.lifetime)
  }

  /// The key by which the delivery can be merged with others to the same device; `nil` if it is
  /// always sent.
  var mergeKey: DeliveryMergeKey? {
    device.kind.mergesDeliveries ? DeliveryMergeKey(notification.subscription) : nil
  }
}

extension DeviceToken {
  /// The reason why nothing is sent to the device, as text.
  var lackOfRoute: String {
    guard let channel = PushChannelRegistry.channel(of: kind) else {
      return "the server does not push to a reader of the web courier"
    }
    return channel.lackOfRoute(to: self)
  }
}
