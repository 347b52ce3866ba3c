/// The lookups of the registrations of devices. Each registration has a token (``DeviceToken``). No
/// method changes the store.
public protocol DeviceReading: Sendable {
  /// Returns a registered token; nil if there is none. The token may have expired.
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken?
  /// Returns a user's tokens of all kinds. The token whose last registration is oldest comes first.
  /// An expired token is in the result until the store deletes the token.
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
  /// Returns the registrations of a web courier reader, one for each container in which the reader
  /// listens. The first one has the reader's own token. The result is empty if there is no such
  /// token.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken]
}
