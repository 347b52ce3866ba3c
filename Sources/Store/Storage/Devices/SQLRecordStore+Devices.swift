import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: DeviceStore {
  /// Registers a token, or moves it to another user or device.
  ///
  /// A token that changes hands starts anew: its badge is 0, what was owed to it is abandoned, and
  /// a courier's reader sees what is logged from now on.
  public func saveDeviceToken(_ token: DeviceToken) async throws {
    try await writeDevices { try DeviceTable(transaction: $0).save(token, ordering: &$1) }
  }

  public func deviceToken(
    _ token: String, kind: DeviceToken.Kind
  ) async throws -> DeviceToken? {
    guard !DeviceToken.isNameOfRow(token) else { return nil }
    return try await read {
      try DeviceTable(transaction: $0).device(withToken: token, kind: kind)?.device
    }
  }

  public func courierRegistrations(ofToken token: String) async throws -> [DeviceToken] {
    try await read { try DeviceTable(transaction: $0).readers(ofToken: token).map(\.device) }
  }

  public func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }
}
