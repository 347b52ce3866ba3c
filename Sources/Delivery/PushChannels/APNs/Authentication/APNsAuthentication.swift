import HTTP2Transport

/// The method by which a client proves its identity to APNs. (Apple, *Sending notification requests
/// to APNs*.)
public enum APNsAuthentication: Sendable {
  /// A provider token, a signed text that each push carries. The team's key signs it. One key
  /// serves all apps of the team.
  case tokens(ProviderTokenSource)
  /// A certificate that Apple issued for one app. The client shows it in the TLS handshake, and
  /// pushes carry no provider token.
  case certificate(TLSIdentity)
}
