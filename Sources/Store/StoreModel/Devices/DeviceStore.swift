import CloudKitModel

/// The tokens of devices: of Apple's devices, browsers, webhooks, and readers of the web courier.
public protocol DeviceStore: DeviceReading {
  /// Registers a token, or moves it to another user or device. A token that gets another user
  /// starts anew: its badge is 0, and its waiting deliveries are abandoned.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func saveDeviceToken(_ token: DeviceToken) async throws
  /// Registers a token as ``saveDeviceToken(_:)`` does, unless the token is new for its user and
  /// `limit` is reached. In that case the call returns false and counts a refusal. The limit counts
  /// the user's unexpired tokens of the same kind in the container and environment.
  func saveDeviceToken(_ token: DeviceToken, unlessBeyond limit: Int) async throws -> Bool
  /// Deletes a token and abandons its deliveries; false if the user has no token of this name.
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool
  /// Sets the badge of all the recipient's tokens. The next notification that asks for a badge
  /// counts from it.
  func setBadge(_ badge: Int, of recipient: Recipient) async throws
}
