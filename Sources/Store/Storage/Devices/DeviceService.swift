import CloudKitModel
import SQLEngine
import StoreModel

/// The registrations of devices: Apple's devices, browsers, webhooks, and readers of the web courier
/// (clients that poll the server). Each registration has a token (``DeviceToken``).
///
/// Registrations belong to no database, so a write of one takes the reference lock
/// (``WriteLocks/reference``). These writes use ``Transactions/writeDevices(locking:_:)``, because
/// a device's new user, container or route also changes the waiting deliveries.
public struct DeviceService: Sendable {
  let transactions: Transactions

  /// Registers a token in a container and environment, or changes its registration there. If the token
  /// gets another user, the badge becomes 0 and the waiting deliveries are abandoned: they are never
  /// sent. A courier reader then gets only notifications that are logged from now on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func saveDeviceToken(_ token: DeviceToken) async throws {
    try await transactions.writeDevices {
      try DeviceTable(transaction: $0).save(token, ordering: &$1)
    }
  }

  /// Returns the registrations of a token, at most one for each container and environment, in the order
  /// of containers. The result is empty if there is none. A registration may have expired.
  public func registrations(
    ofToken token: String, kind: DeviceToken.Kind
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).registrations(ofToken: token, kind: kind).map(\.device)
    }
  }

  /// Returns a user's tokens of all kinds. The token whose last registration is oldest comes first.
  /// An expired token is in the result until the store deletes the token.
  public func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await transactions.read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }

  /// Registers a token as ``saveDeviceToken(_:)`` does, unless the user already has `limit` other
  /// tokens of the same kind in the container and environment.
  ///
  /// Expired tokens do not count. The limit does not apply to a token that the user already has
  /// there.
  ///
  /// - Returns: false if the limit is reached. The method then changes no registration, and counts
  ///   a refusal in ``StoreQuotas``.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func saveDeviceToken(
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

  /// Deletes a recipient's token, and abandons the deliveries that wait for it. Returns false if
  /// the recipient has no such token.
  public func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).remove(
        token, kind: kind, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Deletes the registrations of a recipient's device, except webhooks, that were made under this
  /// sign-in or without one, and abandons the deliveries that wait for them. Registrations under
  /// another sign-in stay.
  ///
  /// - Parameters:
  ///   - deviceID: the client's name for its device: see ``DeviceToken/deviceID``.
  ///   - signIn: see ``WebAuthToken/signIn``; nil for a request without a web auth token.
  public func removeDeviceTokens(
    ofDevice deviceID: String, signIn: [UInt8]?, of recipient: Recipient, at timestamp: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).removeAll(
        ofDevice: deviceID, signIn: signIn, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Sets the badge of all tokens of the recipient. The next notification that asks for a badge
  /// raises this number by 1.
  public func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await transactions.write(locking: .badges(of: [recipient.userRecordName])) {
      try DeviceTable(transaction: $0).setBadge(badge, of: recipient)
    }
  }
}
