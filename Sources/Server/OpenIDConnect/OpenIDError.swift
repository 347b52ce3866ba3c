/// A sign-in at an issuer that did not come about.
public struct OpenIDError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The issuer could not be reached, or did not answer in time.
    public static let unreachable = Code(description: "unreachable")
    /// What the issuer answered cannot be understood, or breaks a rule.
    public static let badAnswer = Code(description: "badAnswer")
    /// The issuer refused the request.
    public static let refused = Code(description: "refused")
    /// The ID token is forged, expired, for someone else or for another sign-in.
    public static let invalidToken = Code(description: "invalidToken")
    /// The client's own credential cannot be used.
    public static let badCredential = Code(description: "badCredential")
    /// Too many sign-ins are under way; try again later.
    public static let overloaded = Code(description: "overloaded")
  }

  public var code: Code
  /// What was wrong, with which value, and at whom.
  public var reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
