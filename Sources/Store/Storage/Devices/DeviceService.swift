import CloudKitModel
import SQLEngine
import StoreModel

/// The tokens by which devices, browsers, programs and courier readers get notifications.
///
/// Registrations are outside of databases: their writes take the reference lock. They go through
/// ``Transactions/writeDevices(locking:_:)``, because a registration that changes hands also
/// changes waiting deliveries.
struct DeviceService: DeviceStore {
  let transactions: Transactions

  /// Registers a token, or moves it to another user or device.
  ///
  /// A token that gets another user starts anew: its badge is 0, its waiting deliveries are
  /// abandoned, and a courier reader gets entries logged from now on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(_ token: DeviceToken) async throws {
    try await transactions.writeDevices {
      try DeviceTable(transaction: $0).save(token, ordering: &$1)
    }
  }

  /// Returns a registered token; nil if there is none, or for a text that names a row internal to
  /// the store.
  func deviceToken(
    _ token: String, kind: DeviceToken.Kind
  ) async throws -> DeviceToken? {
    guard !DeviceToken.isNameOfRow(token) else { return nil }
    return try await transactions.read {
      try DeviceTable(transaction: $0).device(withToken: token, kind: kind)?.device
    }
  }

  /// Returns the registrations of a courier token, one for each container, the token's own first;
  /// empty if there is no such token, and for a text that names a row internal to the store.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken] {
    guard !DeviceToken.isNameOfRow(token) else { return [] }
    return try await transactions.read {
      try DeviceTable(transaction: $0).readers(ofToken: token).map(\.device)
    }
  }

  /// Returns a user's devices of all kinds, in the order of their last registrations.
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await transactions.read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }

  /// Registers a token unless its user would have too many of its kind in the container.
  ///
  /// A token that the same user already has in the container is renewed in any case.
  ///
  /// - Parameter limit: the most unexpired tokens of the kind in the container.
  /// - Returns: false if the limit is reached. The refusal is then counted for the metrics.
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

  /// Removes a recipient's device, and abandons its waiting deliveries; false if the recipient has
  /// no such device.
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

  /// Sets the badge of all the recipient's devices in the container's environment.
  ///
  /// The write locks the devices' rows first, so that concurrent badge counts do not deadlock with
  /// it.
  func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await transactions.write(locking: .badges(of: [recipient.userRecordName])) {
      try DeviceTable(transaction: $0).setBadge(badge, of: recipient)
    }
  }
}
