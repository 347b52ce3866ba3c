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

  /// Runs `body` when the client can prove its identity: at once, except for the first provider token of a
  /// process, which may be in the store.
  func ready(_ body: @escaping @Sendable () -> Void) {
    switch self {
    case .tokens(let source): source.restored(body)
    case .certificate: body()
    }
  }
}
