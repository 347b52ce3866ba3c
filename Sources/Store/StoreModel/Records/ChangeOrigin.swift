import CloudKitModel

/// Who made a request, and from which device.
public struct ChangeOrigin: Sendable, Hashable {
  public var userRecordName: String
  /// The name that the client gave for its device (`clientId`).
  public var deviceID: String?
  /// The request that makes the change; nil for what no request makes.
  public var request: RequestUUID?

  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
  }
}
