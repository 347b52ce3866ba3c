import CloudKitModel
import Cryptography
import JSONCoding

/// The maker of the tokens by which push services identify the server (VAPID, RFC 8292), one for
/// each origin.
///
/// A token is valid for twelve hours and used for six, because clocks may differ. The issuer keeps
/// the tokens of recently used origins, at most 1,000. It is a value: its caller passes the time.
struct VAPIDTokenIssuer: Sendable {
  /// The seconds from a token's creation to its expiry. The RFC allows a day.
  static let lifetime = 43_200.0
  /// The seconds for which a token is used.
  static let renewalAge = 21_600.0
  /// The greatest number of tokens in a generation. Two generations are kept.
  static let generationSize = 500

  /// A token with the time of its creation.
  private struct Issue {
    /// The value of the `Authorization` header field.
    var authorization: String
    /// The time of its creation.
    var time: Timestamp
  }

  /// The server's key, which signs the tokens.
  private let key: ES256PrivateKey
  /// The public key for a browser's `applicationServerKey`: its point in base64url.
  let publicKey: String
  /// The contact of the administrator, the `sub` of a token.
  private let subject: String
  /// The present generation of tokens, by origin. A full generation becomes the earlier one, and
  /// tokens that were not used since then are dropped.
  private var issues: [String: Issue] = [:]
  /// The earlier generation.
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

  /// The number of kept tokens.
  var count: Int { issues.count + earlierIssues.count }

  /// Returns the value of `Authorization` for a push service, with the token of its origin.
  ///
  /// - Parameter origin: The endpoint's scheme, host and port (RFC 6454, section 6.1).
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

  /// Whether a token can still be used. A token from the future, after the clock was set back,
  /// cannot: it would expire too late.
  private func isFresh(_ issue: Issue, at now: Timestamp) -> Bool {
    (0..<Self.renewalAge).contains(now.seconds - issue.time.seconds)
  }

  /// Returns a new JSON Web Token with ES256: `aud`, `exp` and `sub`.
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
