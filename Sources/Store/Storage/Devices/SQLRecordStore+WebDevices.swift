import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func saveDeviceToken(
    _ token: DeviceToken, unlessBeyond limit: Int
  ) async throws -> Bool {
    try await writeDevices { transaction, orders in
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

  public func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await writeDevices { transaction, orders in
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
}
