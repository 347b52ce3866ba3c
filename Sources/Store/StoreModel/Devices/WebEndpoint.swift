/// The URL to which a browser's or a program's notifications are posted.
public struct WebEndpoint: Sendable, Hashable {
  /// The absolute URL.
  public var url: String
  /// The secrets with which the server encrypts messages to a browser, or signs messages to a
  /// program.
  public var secrets: [UInt8]

  /// Creates an endpoint. The URL is not checked.
  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// Returns the token for a browser or a webhook, such as `webPush-5f3a…`.
  ///
  /// An APNs token has only hexadecimal digits, so it never equals such a text. The token alone
  /// therefore identifies a device, without the kind.
  ///
  /// - Parameter digest: a hash that differs between endpoints, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
