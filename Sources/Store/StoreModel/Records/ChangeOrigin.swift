import CloudKitModel

/// The user and the device that made a request.
public struct ChangeOrigin: Sendable, Hashable {
  public var userRecordName: String
  /// The client's name for its device (`clientId`).
  public var deviceID: String?
  /// The request that makes the change; nil for a change without a request.
  public var request: RequestUUID?

  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
  }
}
