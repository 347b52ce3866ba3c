import CloudKitModel

/// The registrations of devices: Apple's devices, browsers, webhooks, and readers of the web
/// courier.
public protocol DeviceStore: DeviceReading {
  /// Registers a token in a container and environment, or changes its registration there. If the token
  /// gets another user, the badge becomes 0 and the waiting deliveries are abandoned: they are never
  /// sent. A courier reader then gets only notifications that are logged from now on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(_ token: DeviceToken) async throws
  /// Registers a token as ``saveDeviceToken(_:)`` does, unless the user already has `limit` other
  /// tokens of the same kind in the container and environment.
  ///
  /// Expired tokens do not count. The limit does not apply to a token that the user already has
  /// there.
  ///
  /// - Returns: false if the limit is reached. The method then changes no registration, and counts
  ///   a refusal in ``StoreQuotas``.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(_ token: DeviceToken, unlessBeyond limit: Int) async throws -> Bool
  /// Deletes a recipient's token, and abandons the deliveries that wait for it. Returns false if
  /// the recipient has no such token.
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool
  /// Deletes the registrations of a recipient's device, except webhooks, that were made under this
  /// sign-in or without one, and abandons the deliveries that wait for them. Registrations under
  /// another sign-in stay.
  ///
  /// - Parameters:
  ///   - deviceID: the client's name for its device: see ``DeviceToken/deviceID``.
  ///   - signIn: see ``WebAuthToken/signIn``; nil for a request without a web auth token.
  func removeDeviceTokens(
    ofDevice deviceID: String, signIn: [UInt8]?, of recipient: Recipient, at timestamp: Timestamp
  ) async throws
  /// Sets the badge of all tokens of the recipient. The next notification that asks for a badge
  /// raises this number by 1.
  func setBadge(_ badge: Int, of recipient: Recipient) async throws
}
