/// A request as it came over the wire.
public struct SimulatedRequest: Sendable {
  public var method: String
  /// `:path`.
  public var path: String
  /// Names in lower case, in the order of arrival, without those that begin with a colon.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]

  public init(
    method: String, path: String, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }

  /// The value of the first header of this name.
  public subscript(header name: String) -> String? {
    headers.first { $0.name == name }?.value
  }

  /// What stands behind `/3/device/`, in lower case; nil on other paths and when nothing does.
  public var deviceToken: String? {
    guard path.hasPrefix(Self.devicePath) else { return nil }
    let token = path.dropFirst(Self.devicePath.count).lowercased()
    return token.isEmpty ? nil : token
  }

  static let devicePath = "/3/device/"
}
