/// A request to APNs as it came over the network.
public struct SimulatedRequest: Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The pseudo-header `:path`.
  public var path: String
  /// The headers with names in lower case, in the order of their arrival, without those that begin
  /// with a colon.
  public var headers: [(name: String, value: String)]
  /// The payload.
  public var body: [UInt8]

  /// Creates a request; tests use it without a connection.
  public init(
    method: String, path: String, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }

  /// The value of the first header of this name in lower case; nil if there is none.
  public subscript(header name: String) -> String? {
    headers.first { $0.name == name }?.value
  }

  /// The part of the path after `/3/device/`, in lower case; nil on other paths and if the part is
  /// empty.
  public var deviceToken: String? {
    guard path.hasPrefix(Self.devicePath) else { return nil }
    let token = path.dropFirst(Self.devicePath.count).lowercased()
    return token.isEmpty ? nil : token
  }

  /// The beginning of the path of all pushes.
  static let devicePath = "/3/device/"
}
