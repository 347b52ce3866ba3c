import HTTP2Transport

/// The sender's authentication to APNs. (Apple, *Sending notification requests to APNs*.)
public enum APNsAuthentication: Sendable {
  /// A provider token with each push, signed with the team's key.
  case tokens(ProviderTokenSource)
  /// A certificate in the TLS handshake, made by Apple for one app; no provider tokens.
  case certificate(TLSIdentity)
}
