import CloudKitModel

/// The origin of a change: the user and the device that make it. The device gets no pushes for its
/// own change.
public struct ChangeOrigin: Sendable, Hashable {
  /// The user who makes the change.
  public var userRecordName: String
  /// The client's name for its device (`clientId`); nil if the client sent none.
  public var deviceID: String?
  /// The ID of the request that makes the change; nil for a change without a request ID.
  public var request: RequestUUID?
  /// Whether the operator of the server makes the change, not an app.
  public var isByOperator = false

  /// Creates an origin, by default without a device and a request.
  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
  }
}
