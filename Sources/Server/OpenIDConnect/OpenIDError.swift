/// The failure of a sign-in at an issuer, the OpenID Connect service at which the user signs in.
public struct OpenIDError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a failure. Later versions may add kinds.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, for logs.
    public let description: String

    /// The issuer could not be reached, or did not answer in time.
    public static let unreachable = Code(description: "unreachable")
    /// The issuer's answer cannot be parsed, or breaks a rule.
    public static let badAnswer = Code(description: "badAnswer")
    /// The issuer refused the code.
    public static let refused = Code(description: "refused")
    /// The ID token is forged, expired, for another client or for another sign-in.
    public static let invalidToken = Code(description: "invalidToken")
    /// The client's own signing key cannot be used.
    public static let badCredential = Code(description: "badCredential")
    /// Too many sign-ins are under way. A later attempt may succeed.
    public static let overloaded = Code(description: "overloaded")
  }

  /// The kind of the failure.
  public var code: Code
  /// The description of the failure for the log, with the issuer and the wrong value.
  public var reason: String

  /// Creates an error with a code and its description.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
