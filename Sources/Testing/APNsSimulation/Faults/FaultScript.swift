/// The faults that still apply to later requests, in the order in which they were added. The script
/// is a value without I/O.
struct FaultScript: Sendable {
  private var faultsOfDevices: [String: [APNsFault]] = [:]
  private var faultsOfAll: [APNsFault] = []

  /// Adds a fault after the other faults of the device. Nil adds it after the other faults for any
  /// device.
  mutating func add(_ fault: APNsFault, for deviceToken: String?) {
    if let deviceToken {
      faultsOfDevices[deviceToken.lowercased(), default: []].append(fault)
    } else {
      faultsOfAll.append(fault)
    }
  }

  /// Removes the faults of a device; nil removes the faults for any device.
  mutating func remove(for deviceToken: String?) {
    if let deviceToken {
      faultsOfDevices[deviceToken.lowercased()] = nil
    } else {
      faultsOfAll = []
    }
  }

  /// Removes and returns the settings that are due (``APNsFault/set(_:)``). Each device has a list
  /// of faults, and one more list is for any device. A setting is due when it is the first in its
  /// list and lets no more requests pass.
  mutating func takeSettings() -> [APNsSetting] {
    var settings = Self.takeSettings(from: &faultsOfAll)
    for (device, var faults) in faultsOfDevices {
      let due = Self.takeSettings(from: &faults)
      if !due.isEmpty { faultsOfDevices[device] = faults.isEmpty ? nil : faults }
      settings += due
    }
    return settings
  }

  private static func takeSettings(from faults: inout [APNsFault]) -> [APNsSetting] {
    var settings: [APNsSetting] = []
    while let first = faults.first, first.passes == 0, case .set(let setting) = first.effect {
      settings.append(setting)
      faults.removeFirst()
    }
    return settings
  }

  /// Returns the effect of the next fault on a request of the device; nil for none. The number of
  /// requests to which the fault still applies decreases. The device's own faults come first, then
  /// the faults for any device.
  ///
  /// Call ``takeSettings()`` before. Otherwise the method may return a due setting as the effect.
  mutating func next(for deviceToken: String) -> APNsFault.Effect? {
    if var faults = faultsOfDevices.removeValue(forKey: deviceToken) {
      let effect = Self.take(from: &faults)
      if !faults.isEmpty { faultsOfDevices[deviceToken] = faults }
      if let effect { return effect }
    }
    return Self.take(from: &faultsOfAll)
  }

  /// Returns the effect of the first fault in a list, if the fault applies now, and decreases its
  /// numbers. Nil while the first fault lets requests pass, and for an empty list.
  private static func take(from faults: inout [APNsFault]) -> APNsFault.Effect? {
    while let first = faults.first {
      if first.passes > 0 {
        faults[0].passes -= 1
        return nil
      }
      guard let count = first.count else { return first.effect }
      if count > 1 {
        faults[0].count = count - 1
      } else {
        faults.removeFirst()
      }
      if count > 0 { return first.effect }
    }
    return nil
  }
}
