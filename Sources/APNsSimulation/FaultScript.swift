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

  /// What befalls a request for the device: its own fault first, then one for all.
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
