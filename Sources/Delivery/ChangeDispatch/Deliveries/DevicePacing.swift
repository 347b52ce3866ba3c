import CloudKitModel
import StoreModel

/// The record that decides when a device may get its next push. It is a value.
///
/// APNs delivers only a few silent pushes an hour to a device, and further ones count against it. A
/// device that gets too many pushes, as APNs reports, gets none for a while. So does a browser or a
/// webhook whose server has trouble.
struct DevicePacing {
  /// The seconds between two silent pushes to a device; 0 for no limit.
  let silentInterval: Double
  /// The greatest number of devices that are remembered. Others get their pushes without pacing.
  let capacity: Int
  /// The devices with a pace, by token.
  private var devices: [String: Device] = [:]
  /// The time at which old devices were last removed.
  private var lastCleaning = Timestamp(milliseconds: 0)

  /// The pace of one device.
  private struct Device {
    /// The earliest time of the next silent push.
    var nextSilent = Timestamp(milliseconds: .min)
    /// The earliest time of the next push of any kind.
    var next = Timestamp(milliseconds: .min)

    /// Whether the device may get any push, so that nothing need be remembered.
    func isForgettable(at now: Timestamp) -> Bool { nextSilent <= now && next <= now }
  }

  /// Creates a record without devices.
  init(silentInterval: Double, capacity: Int) {
    self.silentInterval = silentInterval
    self.capacity = capacity
  }

  /// The number of remembered devices.
  var count: Int { devices.count }

  /// Returns the time at which a due delivery may be sent, with the reason for the delay; `nil` if
  /// it may be sent now. It then counts as sent.
  mutating func postponement(
    of delivery: Delivery, at now: Timestamp
  ) -> (until: Timestamp, reason: String)? {
    let device = devices[delivery.device.token] ?? Device()
    if device.next > now {
      return (device.next, "the push service asked for a pause before the next push to this device")
    }
    guard silentInterval > 0, delivery.mergeKey?.isSilent == true else { return nil }
    if device.nextSilent > now {
      return (device.nextSilent, "the server has just sent a silent push to this device")
    }
    let next = now.advanced(bySeconds: silentInterval)
    change(delivery.device.token, at: now) { $0.nextSilent = next }
    return nil
  }

  /// Sends nothing to the device until `end`.
  mutating func hold(_ token: String, until end: Timestamp, at now: Timestamp) {
    change(token, at: now) { $0.next = max($0.next, end) }
  }

  /// Changes the pace of a device. If the record is full, it first removes devices without a pace.
  /// A new device that still does not fit is not recorded.
  private mutating func change(_ token: String, at now: Timestamp, _ body: (inout Device) -> Void) {
    if devices.count >= capacity, devices[token] == nil {
      // A search of all devices at each push would cost more than pacing saves, so it runs once a
      // second.
      guard now.milliseconds - lastCleaning.milliseconds >= 1_000 else { return }
      lastCleaning = now
      let kept = devices.filter { !$0.value.isForgettable(at: now) }
      devices = kept
      guard devices.count < capacity else { return }
    }
    body(&devices[token, default: Device()])
  }
}
