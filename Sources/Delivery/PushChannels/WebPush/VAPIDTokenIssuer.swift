import CloudKitModel
import Cryptography
import JSONCoding

/// Makes the tokens by which push services identify the server (RFC 8292), one for each origin.
///
/// A token is valid for twelve hours and used for six, because clocks may differ. The tokens of
/// recently used origins are kept.
struct VAPIDTokenIssuer: Sendable {
  /// Seconds from a token's creation to its expiry. The RFC allows a day.
  static let lifetime = 43_200.0
  /// Seconds for which it is used.
  static let renewalAge = 21_600.0
  /// The most tokens in a generation; two generations are kept.
  static let generationSize = 500

  private struct Issue {
    var authorization: String
    var time: Timestamp
  }

  private let key: ES256PrivateKey
  /// The public key for browsers' `applicationServerKey`: its point in base64url.
  let publicKey: String
  private let subject: String
  /// The present generation. When it is full, it becomes the earlier one, and tokens not used since
  /// are dropped.
  private var issues: [String: Issue] = [:]
  private var earlierIssues: [String: Issue] = [:]

  /// - Parameter subject: a `mailto:` or `https:` URL at which push services can contact the
  ///   administrator.
  init(key: ES256PrivateKey, subject: String) throws(CryptographyError) {
    self.key = key
    self.subject = subject
    publicKey = Base64URL.encode(try key.publicKey.uncompressedPoint)
  }

  /// The number of kept tokens.
  var count: Int { issues.count + earlierIssues.count }

  /// The value of `Authorization` for a push service.
  ///
  /// - Parameter origin: the endpoint's scheme, host and port (RFC 6454, section 6.1).
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

  /// After the clock was set back, a token from the future would expire too late.
  private func isFresh(_ issue: Issue, at now: Timestamp) -> Bool {
    (0..<Self.renewalAge).contains(now.seconds - issue.time.seconds)
  }

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
