/// The URL to which a browser's or a program's notifications are posted.
public struct WebEndpoint: Sendable, Hashable {
  /// The absolute URL.
  public var url: String
  /// The secrets that encrypt messages to a browser or sign messages to a program.
  public var secrets: [UInt8]

  /// Creates an endpoint. The URL is not checked.
  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// Returns the token of an endpoint's device, such as `webPush-5f3a…`.
  ///
  /// APNs tokens are hexadecimal digits, so no APNs token equals such a text. One text therefore
  /// identifies a device of any kind.
  ///
  /// - Parameter digest: a digest of the endpoint's identity, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
