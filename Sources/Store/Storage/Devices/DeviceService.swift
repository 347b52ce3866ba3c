import CloudKitModel
import SQLEngine
import StoreModel

/// The registrations of devices: Apple's devices, browsers, programs, and readers of the web
/// courier (clients that poll the server). Each registration has a token.
///
/// Registrations belong to no database, so a write of one takes the reference lock
/// (``WriteLocks/reference``). These writes use ``Transactions/writeDevices(locking:_:)``, because
/// a device's new user, container or route also changes the waiting deliveries.
struct DeviceService: DeviceStore {
  let transactions: Transactions

  /// Registers a token in a container and environment, or changes its registration there.
  ///
  /// If the token gets another user, the badge becomes 0 and the waiting deliveries are abandoned: they are never sent. A courier reader then gets only log entries
  /// that are written from now on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(_ token: DeviceToken) async throws {
    try await transactions.writeDevices {
      try DeviceTable(transaction: $0).save(token, ordering: &$1)
    }
  }

  /// Returns the registrations of a token, at most one for each container and environment, in the order
  /// of containers.
  func registrations(
    ofToken token: String, kind: DeviceToken.Kind
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).registrations(ofToken: token, kind: kind).map(\.device)
    }
  }

  /// Returns a user's devices of all kinds. The device whose last registration is oldest comes
  /// first.
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await transactions.read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }

  /// Registers a token, unless the user already has `limit` other tokens of this kind in the
  /// container and environment.
  ///
  /// The limit does not apply to a token that the user already has in the container and
  /// environment.
  ///
  /// - Parameter limit: the most tokens of the kind. Expired tokens do not count.
  /// - Returns: false if the limit is reached. The method then changes no registration, and counts
  ///   the refusal for the metrics.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(
    _ token: DeviceToken, unlessBeyond limit: Int
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let devices = DeviceTable(transaction: transaction)
      let known = try devices.device(named: token.name)
      if known?.userRecordName == token.userRecordName {
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

  /// Deletes a recipient's device, and abandons the device's waiting deliveries.
  ///
  /// - Returns: false if the recipient has no such device.
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).remove(
        token, kind: kind, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Deletes the registrations that a recipient's device made under a sign-in, and abandons the
  /// device's waiting deliveries; see ``DeviceTable/removeAll(ofDevice:signIn:of:at:ordering:)``.
  func removeDeviceTokens(
    ofDevice deviceID: String, signIn: [UInt8]?, of recipient: Recipient, at timestamp: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).removeAll(
        ofDevice: deviceID, signIn: signIn, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Sets the badge of all the recipient's devices in the container's environment.
  ///
  /// On a store that servers share, the transaction locks the devices' rows first. So this write
  /// and concurrent counts of badges do not deadlock.
  func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await transactions.write(locking: .badges(of: [recipient.userRecordName])) {
      try DeviceTable(transaction: $0).setBadge(badge, of: recipient)
    }
  }
}
