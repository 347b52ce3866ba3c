import Errors

/// The failure of a sign-in at an issuer, the OpenID Connect service at which the user signs in.
public typealias OpenIDError = CodedError<OpenIDErrorCode>

/// The codes of ``OpenIDError``.
public enum OpenIDErrorCode: String, ErrorCode {
  /// The issuer could not be reached, or did not answer in time.
  case unreachable
  /// The issuer's answer cannot be parsed, or breaks a rule.
  case badAnswer
  /// The issuer refused the code.
  case refused
  /// The ID token is forged, expired, for another client or for another sign-in.
  case invalidToken
  /// The client's own signing key cannot be used.
  case badCredential
  /// Too many sign-ins are under way. A later attempt may succeed.
  case overloaded
}
