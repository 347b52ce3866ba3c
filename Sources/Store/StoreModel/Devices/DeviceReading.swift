/// The lookups of the registrations of devices. Each registration has a token (``DeviceToken``). No
/// method changes the store.
public protocol DeviceReading: Sendable {
  /// Returns the registrations of a token, at most one for each container and environment, in the order
  /// of containers. The result is empty if there is none. A registration may have expired.
  func registrations(ofToken token: String, kind: DeviceToken.Kind) async throws -> [DeviceToken]
  /// Returns a user's tokens of all kinds. The token whose last registration is oldest comes first.
  /// An expired token is in the result until the store deletes the token.
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
}
