import CloudKitModel
import StoreModel

/// How soon a device may get its next push, as a value.
///
/// APNs passes on a few silent pushes an hour to a device; a server that sends more of them only
/// spends the device's goodwill. And a device of which APNs says that it gets too many is left alone
/// for a while, as is a browser or a webhook whose server has trouble.
struct DevicePacing {
  /// Seconds between two silent pushes to a device; 0 for no limit.
  let silentInterval: Double
  /// Devices that are remembered at once; others get their pushes unpaced.
  let capacity: Int
  private var devices: [String: Device] = [:]
  /// When it was last looked for devices to forget.
  private var lastCleaning = Timestamp(milliseconds: 0)

  private struct Device {
    var nextSilent = Timestamp(milliseconds: .min)
    var next = Timestamp(milliseconds: .min)

    func isForgettable(at now: Timestamp) -> Bool { nextSilent <= now && next <= now }
  }

  init(silentInterval: Double, capacity: Int) {
    self.silentInterval = silentInterval
    self.capacity = capacity
  }

  var count: Int { devices.count }

  /// When a delivery may be sent that is due now, with the reason; nil when it may be sent now, and
  /// then it counts as sent.
  mutating func postponement(
    of delivery: Delivery, at now: Timestamp
  ) -> (until: Timestamp, reason: String)? {
    let device = devices[delivery.device.token] ?? Device()
    if device.next > now {
      return (device.next, "the device is left alone for a while after its service's last answer")
    }
    guard silentInterval > 0, delivery.mergeKey?.isSilent == true else { return nil }
    if device.nextSilent > now {
      return (device.nextSilent, "the device has just had a silent push")
    }
    let next = now.advanced(bySeconds: silentInterval)
    change(delivery.device.token, at: now) { $0.nextSilent = next }
    return nil
  }

  /// Nothing goes to the device until then.
  mutating func hold(_ token: String, until end: Timestamp, at now: Timestamp) {
    change(token, at: now) { $0.next = max($0.next, end) }
  }

  private mutating func change(_ token: String, at now: Timestamp, _ body: (inout Device) -> Void) {
    if devices.count >= capacity, devices[token] == nil {
      // Looking through all of them for each push would cost more than the pacing saves.
      guard now.milliseconds - lastCleaning.milliseconds >= 1_000 else { return }
      lastCleaning = now
      let kept = devices.filter { !$0.value.isForgettable(at: now) }
      devices = kept
      guard devices.count < capacity else { return }
    }
    body(&devices[token, default: Device()])
  }
}
