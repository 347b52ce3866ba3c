import CloudKitModel
import StoreModel

/// The registrations of devices: Apple's devices, browsers, webhooks, and readers of the web
/// courier (clients that poll the server). Each registration has a token (``DeviceToken``).
///
/// Registrations belong to no database, so a write of one takes the reference lock. It uses
/// ``Transactions/writeDevices(locking:_:)``, because a device's new user, container or route also
/// changes the waiting deliveries.
public struct DeviceService: Sendable {
  let transactions: Transactions

  /// Registers a token in a container and environment, or changes its registration there. If the
  /// token gets another user, the badge becomes 0 and the waiting deliveries are never sent. A
  /// courier reader then gets only later notifications.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func saveDeviceToken(_ token: DeviceToken) async throws {
    try await transactions.writeDevices {
      try DeviceTable(transaction: $0).save(token, ordering: &$1)
    }
  }

  /// Returns the registrations of a token, at most one for each container and environment, in the
  /// order of containers. A registration may have expired.
  public func registrations(
    ofToken token: String, kind: DeviceToken.Kind
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).registrations(ofToken: token, kind: kind).map(\.device)
    }
  }

  /// Returns a user's tokens of all kinds, expired ones too, with the oldest last registration
  /// first.
  public func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await transactions.read { try DeviceTable(transaction: $0).devices(of: userRecordName) }
  }

  /// Registers a token as ``saveDeviceToken(_:)`` does, unless the user already has `limit` other
  /// unexpired tokens of the same kind in the container and environment. The limit does not apply
  /// to a token that the user already has there.
  ///
  /// - Returns: false if the limit is reached. The method then counts a refusal in ``StoreQuotas``.
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
  /// there is no such token.
  public func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).remove(
        token, kind: kind, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Deletes the registrations of a recipient's device that were made under this sign-in or without
  /// one, and abandons their deliveries. Webhooks stay. Registrations under another sign-in stay
  /// too, so a late request of a former sign-in does not end those of the present one.
  ///
  /// - Parameter signIn: see ``WebAuthToken/signIn``; nil for a request without a web auth token.
  public func removeDeviceTokens(
    ofDevice deviceID: String, signIn: [UInt8]?, of recipient: Recipient, at timestamp: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).removeAll(
        ofDevice: deviceID, signIn: signIn, of: recipient, at: timestamp, ordering: &orders)
    }
  }

  /// Sets the badge of all tokens of the recipient. Each notification that asks for a badge raises
  /// it by 1.
  public func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await transactions.write(locking: .badges(of: [recipient.userRecordName])) {
      try DeviceTable(transaction: $0).setBadge(badge, of: recipient)
    }
  }
}

/// A period during which a device was registered for one user without a break. The container, the
/// environments, the bundle ID and the client's name for the device stay the same in it.
public struct DevicePeriod: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's ``DeviceToken/token``.
  public var token: String
  /// The APNs environment. It has a meaning only for an APNs token.
  public var apnsEnvironment: APNsEnvironment
  /// The registration's ``DeviceToken/bundleID``.
  public var bundleID: String?
  /// The client's name for its device; nil if the client sent none.
  public var deviceID: String?
  /// The time of the first registration in the period.
  public var began: Timestamp
  /// The end of the period. For a present registration the time of the expiry; nil if it never
  /// expires.
  public var ended: Timestamp?
  /// The reason why the period ended; nil for a present registration.
  public var reason: String?

  /// Whether pushes could be queued for the device at this time.
  public func contains(_ time: Timestamp) -> Bool {
    began <= time && !hasEnded(by: time)
  }

  /// Whether the period has ended at this time or before.
  public func hasEnded(by time: Timestamp) -> Bool {
    ended.map { $0 <= time } ?? false
  }
}
