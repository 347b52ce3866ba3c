/// Looks up the tokens of devices.
public protocol DeviceReading: Sendable {
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken?
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
  /// The containers and users of the reader with this token; the registration for which the token
  /// was made comes first. Empty if there is no such token.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken]
}
