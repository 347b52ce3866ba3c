/// The URL that a browser's or a program's notifications are posted to.
public struct WebEndpoint: Sendable, Hashable {
  public var url: String
  /// For a browser what messages are encrypted with, for a program what they are signed with.
  public var secrets: [UInt8]

  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// The token of an endpoint's device.
  ///
  /// APNs tokens are hexadecimal digits, so that none has this form; what names a device is one text
  /// for all kinds.
  ///
  /// - Parameter digest: of what the endpoint is told apart by, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
