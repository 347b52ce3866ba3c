import CloudKitModel

/// The user and the device that make a change. Pushes of the change do not go to that device.
public struct ChangeOrigin: Sendable, Hashable {
  /// The user who makes the change.
  public var userRecordName: String
  /// The client's name for its device (`clientId`); nil if the client sent none.
  public var deviceID: String?
  /// The request that makes the change; nil for a change without a request.
  public var request: RequestUUID?

  /// Names the origin of a change.
  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
  }
}
