import CloudKitModel

/// The tokens of devices: of Apple's devices, browsers, webhooks, and readers of the web courier.
public protocol DeviceStore: DeviceReading {
  /// Registers a token, or moves it to another user or device.
  func saveDeviceToken(_ token: DeviceToken) async throws
  /// Registers a token as ``saveDeviceToken(_:)`` does, unless it is new for its user, who has `limit`
  /// others of its kind in its container and environment that have not expired when it is registered;
  /// false then.
  func saveDeviceToken(_ token: DeviceToken, unlessBeyond limit: Int) async throws -> Bool
  /// Forgets a token, and gives up what is owed to it; false when the user has none of this name.
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool
  /// Sets the badge of all the recipient's tokens: the next notification that asks for a badge
  /// counts from it.
  func setBadge(_ badge: Int, of recipient: Recipient) async throws
}
