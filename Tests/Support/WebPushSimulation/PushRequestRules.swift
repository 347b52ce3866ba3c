import Cryptography
import Foundation
import JSONCoding

/// The rules that a push service may enforce on a request.
enum PushRequestRules {
  /// The rules that a request breaks.
  static func faults(
    method: String, headers: [String: String], origin: String, body: [UInt8]
  ) -> [String] {
    var faults: [String] = []
    func demand(_ isKept: Bool, _ fault: String) {
      if !isKept { faults.append(fault) }
    }
    demand(method == "POST", "the method is \(method)")
    demand(headers["ttl"].flatMap { Int($0) }.map { $0 >= 0 } ?? false, "there is no TTL")
    demand(
      headers["urgency"].map { ["very-low", "low", "normal", "high"].contains($0) } ?? true,
      "the urgency is none")
    demand(headers["content-encoding"] == "aes128gcm", "the encoding is not aes128gcm")
    demand(body.count <= 4096, "the message has \(body.count) bytes")
    if let topic = headers["topic"] {
      demand(
        topic.utf8.count <= 32 && Base64URL.decode(topic) != nil, "the topic '\(topic)' is none")
    }
    return faults + self.faults(authorization: headers["authorization"] ?? "", origin: origin)
  }

  /// RFC 8292, sections 2 and 3.
  private static func faults(authorization: String, origin: String) -> [String] {
    guard
      let match = authorization.wholeMatch(of: /vapid t=([^.]+)\.([^.]+)\.([^,]+), ?k=(\S+)/),
      let header = json(match.1), let claims = json(match.2),
      let signature = Base64URL.decode(match.3), let point = Base64URL.decode(match.4),
      let key = try? ES256PublicKey(uncompressedPoint: point),
      let read = try? ES256Signature(raw: signature)
    else { return ["the authorization is no VAPID: \(authorization)"] }
    var faults: [String] = []
    if header["alg"] != "ES256" { faults.append("the token is not signed with ES256") }
    if !key.isValid(signature: read, for: "\(match.1).\(match.2)".utf8) {
      faults.append("the token's signature is not valid")
    }
    if claims["aud"]?.string != origin { faults.append("the token is for another origin") }
    let rest = Double(claims["exp"]?.int ?? 0) - Date.now.timeIntervalSince1970
    if !(0...86_400).contains(rest) { faults.append("the token ends in \(rest) seconds") }
    if let subject = claims["sub"]?.string,
      !subject.hasPrefix("mailto:"), !subject.hasPrefix("https:")
    {
      faults.append("the token's subject is '\(subject)'")
    }
    return faults
  }

  private static func json(_ part: Substring) -> JSONValue? {
    Base64URL.decode(part).flatMap { try? JSONValue(parsing: Data($0)) }
  }
}
