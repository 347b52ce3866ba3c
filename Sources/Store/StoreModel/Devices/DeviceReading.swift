/// Lookups of the tokens of devices. They change nothing.
public protocol DeviceReading: Sendable {
  /// Returns a registered token; nil if there is none. It may have expired.
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken?
  /// Returns a user's tokens of all kinds, in the order of their last registrations. Expired ones
  /// are included until the store deletes them.
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
  /// Returns the containers and users of the reader with this token. The registration for which the
  /// token was made comes first. The result is empty if there is no such token.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken]
}
