import CloudKitModel
import StoreModel

/// Decides when a device may get its next push. A value.
///
/// APNs delivers only a few silent pushes an hour to a device, and more of them count against it. A
/// device that gets too many pushes according to APNs gets none for a while, and so does a browser
/// or webhook whose server has trouble.
struct DevicePacing {
  /// Seconds between two silent pushes to a device; 0 for no limit.
  let silentInterval: Double
  /// The most devices remembered; others get their pushes without pacing.
  let capacity: Int
  private var devices: [String: Device] = [:]
  /// When old devices were last removed.
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

  /// The time at which a due delivery may be sent, with the reason for the delay. Nil if it may be
  /// sent now; then it counts as sent.
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

  /// Sends nothing to the device until `end`.
  mutating func hold(_ token: String, until end: Timestamp, at now: Timestamp) {
    change(token, at: now) { $0.next = max($0.next, end) }
  }

  private mutating func change(_ token: String, at now: Timestamp, _ body: (inout Device) -> Void) {
    if devices.count >= capacity, devices[token] == nil {
      // Searching all devices at each push would cost more than pacing saves.
      guard now.milliseconds - lastCleaning.milliseconds >= 1_000 else { return }
      lastCleaning = now
      let kept = devices.filter { !$0.value.isForgettable(at: now) }
      devices = kept
      guard devices.count < capacity else { return }
    }
    body(&devices[token, default: Device()])
  }
}
