/// The faults that are still to come, in the order in which they were asked for.
struct FaultScript: Sendable {
  private var faultsOfDevices: [String: [APNsFault]] = [:]
  private var faultsOfAll: [APNsFault] = []

  /// Adds a fault for a device, or for any device if `deviceToken` is nil, behind those that are
  /// there.
  mutating func add(_ fault: APNsFault, for deviceToken: String?) {
    if let deviceToken {
      faultsOfDevices[deviceToken.lowercased(), default: []].append(fault)
    } else {
      faultsOfAll.append(fault)
    }
  }

  /// Forgets the faults of a device; of any device if `deviceToken` is nil.
  mutating func remove(for deviceToken: String?) {
    if let deviceToken {
      faultsOfDevices[deviceToken.lowercased()] = nil
    } else {
      faultsOfAll = []
    }
  }

  /// The settings whose turn has come: those that stand before all faults that are still to come.
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

  /// What befalls a request for the device: its own fault first, then one for all.
  ///
  /// Settings that are due must have been taken before.
  mutating func next(for deviceToken: String) -> APNsFault.Effect? {
    if var faults = faultsOfDevices.removeValue(forKey: deviceToken) {
      let effect = Self.take(from: &faults)
      if !faults.isEmpty { faultsOfDevices[deviceToken] = faults }
      if let effect { return effect }
    }
    return Self.take(from: &faultsOfAll)
  }

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
