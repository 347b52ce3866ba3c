/// Looks up the tokens of devices.
public protocol DeviceReading: Sendable {
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken?
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
  /// In which containers the reader with this token listens, and as whom; that which the token was
  /// made for first. Empty when there is no such token.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken]
}
