import CloudKitModel
import StoreModel

/// The record of the earliest times at which devices may get their next pushes. It is a value.
///
/// APNs delivers only a few silent pushes an hour to a device, and further ones count against the
/// device. If APNs reports too many pushes to a device, the worker sends none to it for a while.
/// The same applies to a browser or a webhook whose server has trouble.
struct DevicePacing {
  /// The seconds between two silent pushes to a device; 0 for no limit.
  let silentInterval: Double
  /// The greatest number of devices that are remembered. Other devices get their pushes without a
  /// delay.
  let capacity: Int
  private var devices: [String: Device] = [:]
  /// The time at which devices that need no delay were last removed.
  private var lastCleaning = Timestamp(milliseconds: 0)

  /// The earliest times of the next pushes to one device.
  private struct Device {
    var nextSilent = Timestamp(milliseconds: .min)
    var next = Timestamp(milliseconds: .min)

    /// Whether the device may get any push now, so that it need not be remembered.
    func isForgettable(at now: Timestamp) -> Bool { nextSilent <= now && next <= now }
  }

  init(silentInterval: Double, capacity: Int) {
    self.silentInterval = silentInterval
    self.capacity = capacity
  }

  var count: Int { devices.count }

  /// Returns the time until which a due delivery must wait, with the reason for the delay. `nil`
  /// means that the delivery may be sent now. In this case, a silent push counts as sent.
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

  /// Forbids pushes to a device until `end`. An earlier call with a later end stays valid.
  mutating func hold(_ token: String, until end: Timestamp, at now: Timestamp) {
    change(token, at: now) { $0.next = max($0.next, end) }
  }

  /// Changes the times of a device. If the record is full, first removes the devices that need no
  /// delay, at most once a second. A new device that still does not fit is not recorded.
  private mutating func change(_ token: String, at now: Timestamp, _ body: (inout Device) -> Void) {
    if devices.count >= capacity, devices[token] == nil {
      // A search of all devices at each push would cost more than pacing saves.
      guard now.milliseconds - lastCleaning.milliseconds >= 1_000 else { return }
      lastCleaning = now
      let kept = devices.filter { !$0.value.isForgettable(at: now) }
      devices = kept
      guard devices.count < capacity else { return }
    }
    body(&devices[token, default: Device()])
  }
}
