import CloudKitModel
import Cryptography
import JSONCoding

/// The maker of the VAPID tokens (RFC 8292): signed texts by which the push services of browsers
/// identify the server. Each origin (scheme, host and port of a service) gets its own token.
///
/// A token is valid for twelve hours. The issuer uses it for six, because the clocks of servers may
/// differ. The issuer keeps the tokens of recently used origins, at most 1,000.
///
/// The tokens are in two generations. A new token, and a token that is used again, is in the
/// present one. When the present generation is full, it becomes the earlier one, and the tokens of
/// the earlier one are deleted. The issuer is a value: its caller passes the time.
struct VAPIDTokenIssuer: Sendable {
  /// The seconds from a token's creation to its expiry. RFC 8292 allows a day.
  static let lifetime = 43_200.0
  /// The seconds for which a token is used.
  static let renewalAge = 21_600.0
  static let generationSize = 500

  /// A token with the time of its creation.
  private struct Issue {
    /// The value of the `Authorization` header field.
    var authorization: String
    var time: Timestamp
  }

  private let key: ES256PrivateKey
  /// The server's public key, which pages pass to `pushManager.subscribe` as
  /// `applicationServerKey`: the uncompressed point in base64url.
  let publicKey: String
  /// The URL at which push services can contact the administrator, the `sub` of a token.
  private let subject: String
  private var issues: [String: Issue] = [:]
  /// The earlier generation of tokens, by origin.
  private var earlierIssues: [String: Issue] = [:]

  /// Creates an issuer without tokens.
  ///
  /// - Parameter subject: A `mailto:` or `https:` URL at which push services can contact the
  ///   administrator.
  /// - Throws: `CryptographyError` if the public key cannot be derived.
  init(key: ES256PrivateKey, subject: String) throws(CryptographyError) {
    self.key = key
    self.subject = subject
    publicKey = Base64URL.encode(try key.publicKey.uncompressedPoint)
  }

  var count: Int { issues.count + earlierIssues.count }

  /// Returns the value of the `Authorization` header field for a push service. It contains the
  /// token of the service's origin, which the method makes if necessary.
  ///
  /// - Parameter origin: The scheme, host and port of the endpoint's URL (RFC 6454, section 6.1).
  /// - Throws: `CryptographyError` if the signature fails.
  mutating func authorization(
    for origin: String, at now: Timestamp
  ) throws(CryptographyError) -> String {
    if let issue = issues[origin], isFresh(issue, at: now) { return issue.authorization }
    var issue: Issue
    if let known = earlierIssues[origin], isFresh(known, at: now) {
      issue = known
    } else {
      issue = Issue(
        authorization: "vapid t=\(try token(for: origin, at: now)),k=\(publicKey)", time: now)
    }
    if issues.count >= Self.generationSize {
      earlierIssues = issues
      issues = [:]
    }
    issues[origin] = issue
    return issue.authorization
  }

  /// Whether a token can still be used. After the clock was set back, a token may have been created
  /// in the future. Such a token cannot be used, because it would expire too late.
  private func isFresh(_ issue: Issue, at now: Timestamp) -> Bool {
    (0..<Self.renewalAge).contains(now.seconds - issue.time.seconds)
  }

  /// Returns a new JSON Web Token (RFC 7519), signed with ES256. Its claims are `aud`, `exp` and
  /// `sub`.
  private func token(
    for origin: String, at now: Timestamp
  ) throws(CryptographyError) -> String {
    var header = JSONWriter()
    header.object { writer in
      writer.member("typ", "JWT")
      writer.member("alg", "ES256")
    }
    var claims = JSONWriter()
    claims.object { writer in
      writer.member("aud", origin)
      writer.member("exp", (now.milliseconds + Int64(Self.lifetime * 1000)) / 1000)
      writer.member("sub", subject)
    }
    let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
    return signed + "." + Base64URL.encode(try key.signature(for: signed.utf8).raw)
  }
}
