import OpenIDConnect

extension ServerConfiguration {
  /// How users sign in at the server's own page.
  public struct SignIn: Sendable, Hashable {
    /// Whether local accounts sign in with their passwords.
    public var acceptsPasswords = true
    /// OpenID Connect issuers whose users may sign in, by the names that their URLs have here: 1 to
    /// 32 lower-case letters, digits and hyphens.
    public var issuers: [String: IssuerSettings] = [:]

    public init() {}
  }
}
