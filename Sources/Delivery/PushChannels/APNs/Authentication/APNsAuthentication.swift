import HTTP2Transport

/// The method by which a client authenticates to APNs. (Apple, *Sending notification requests to
/// APNs*.)
public enum APNsAuthentication: Sendable {
  /// A provider token with each push, signed with the team's key. One key serves all apps of the
  /// team.
  case tokens(ProviderTokenSource)
  /// A certificate in the TLS handshake, issued by Apple for one app. Requests carry no provider
  /// token.
  case certificate(TLSIdentity)
}
