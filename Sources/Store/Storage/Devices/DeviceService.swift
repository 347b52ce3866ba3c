import CloudKitModel
import SQLEngine
import StoreModel

/// The tokens by which devices, browsers, programs and courier readers get notifications.
struct DeviceService: DeviceStore {
  let transactions: Transactions

  /// Registers a token, or moves it to another user or device.
  ///
  /// A token that gets another user starts anew: its badge is 0, its waiting deliveries are
  /// abandoned, and a courier reader gets entries logged from now on.
  func saveDeviceToken(_ token: DeviceToken) async throws {
    try await transactions.writeDevices {
      try DeviceTable(transaction: $0).save(token, ordering: &$1)
    }
  }

  func deviceToken(
    _ token: String, kind: DeviceToken.Kind
  ) async throws -> DeviceToken? {
    guard !DeviceToken.isNameOfRow(token) else { return nil }
    return try await transactions.read {
      try DeviceTable(transaction: $0).device(withToken: token, kind: kind)?.device
    }
  }

  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).readers(ofToken: token).map(\.device)
    }
  }

  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await transactions.read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }

  func saveDeviceToken(
    _ token: DeviceToken, unlessBeyond limit: Int
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let devices = DeviceTable(transaction: transaction)
      let known = try devices.device(withToken: token.token, kind: token.kind)?.device
      if let known, known.hasSameReader(as: token) {
        try devices.save(token, ordering: &orders)
        return true
      }
      guard try devices.othersCount(besides: token) < limit else {
        transaction.context.quotas.note(refusalOf: token.kind.quota)
        return false
      }
      try devices.save(token, ordering: &orders)
      return true
    }
  }

  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      guard
        try DeviceTable(transaction: transaction).remove(
          token, kind: kind, of: recipient, at: timestamp)
      else { return false }
      orders.append(
        DeliveryOrder(
          token: token, userRecordName: recipient.userRecordName,
          action: .abandon(reason: "the device was unregistered", at: timestamp)))
      return true
    }
  }

  func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await transactions.write(locking: .badges(of: [recipient.userRecordName])) {
      try DeviceTable(transaction: $0).setBadge(badge, of: recipient)
    }
  }
}
