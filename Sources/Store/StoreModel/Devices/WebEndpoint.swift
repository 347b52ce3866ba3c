/// The URL to which a browser's or a program's notifications are posted.
public struct WebEndpoint: Sendable, Hashable {
  public var url: String
  /// The secrets that encrypt messages to a browser or sign messages to a program.
  public var secrets: [UInt8]

  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// The token of an endpoint's device.
  ///
  /// APNs tokens are hexadecimal digits, so none equals it: one text identifies a device of any
  /// kind.
  ///
  /// - Parameter digest: a digest of what identifies the endpoint, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
