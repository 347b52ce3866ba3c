/// A request to APNs, as it came over the network or as a test made it.
public struct SimulatedRequest: Sendable {
  /// The HTTP method, such as `POST`.
  public var method: String
  /// The pseudo-header `:path`.
  public var path: String
  /// The headers with names in lower case, in the order of their arrival. Pseudo-headers, whose
  /// names begin with a colon, are not among them.
  public var headers: [(name: String, value: String)]
  /// The payload.
  public var body: [UInt8]

  /// Creates a request. Tests can make a request without a connection.
  public init(
    method: String, path: String, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }

  /// The value of the first header with this name; nil if there is none. The name must be in lower
  /// case.
  public subscript(header name: String) -> String? {
    headers.first { $0.name == name }?.value
  }

  /// The part of the path after `/3/device/`, in lower case. Nil if the path begins in another way,
  /// or if the part is empty.
  public var deviceToken: String? {
    guard path.hasPrefix(Self.devicePath) else { return nil }
    let token = path.dropFirst(Self.devicePath.count).lowercased()
    return token.isEmpty ? nil : token
  }

  static let devicePath = "/3/device/"
}
