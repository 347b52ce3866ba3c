import CloudKitModel
import PushChannels
import StoreModel

extension Delivery {
  /// When the delivery expires and is not sent any more.
  var expiration: Timestamp {
    let isHighPriority = notification.subscription.notificationInfo?.isHighPriority == true
    let kind: Push.Kind = isHighPriority ? .alert : .background
    let lifetime = PushChannelRegistry.channel(of: device.kind)?.lifetime(of: kind)
    return logged.advanced(bySeconds: lifetime ?? kind.lifetime)
  }

  var mergeKey: DeliveryMergeKey? {
    device.kind.mergesDeliveries ? DeliveryMergeKey(notification.subscription) : nil
  }
}

extension DeviceToken {
  /// Why nothing is sent to the device, for people.
  var lackOfRoute: String {
    guard let channel = PushChannelRegistry.channel(of: kind) else {
      return "a reader of the web courier is sent nothing"
    }
    return channel.lackOfRoute(to: self)
  }
}
