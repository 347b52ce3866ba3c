import Cryptography
import Foundation
import JSONCoding

/// The parts of a JSON web token in the compact format (RFC 7515, section 7.1). The signature is
/// not checked yet.
struct SignedToken: Sendable {
  /// The maximum length of a token in bytes. A longer token is refused before it is parsed.
  static let limit = 16_384

  var algorithm: IssuerKey.Algorithm
  /// The name of the key in the header; nil if the header names no key.
  var keyID: String?
  /// The claims, a JSON object.
  var claims: JSONValue
  var signature: [UInt8]
  /// The text that the signature covers: the header and the claims in Base64URL.
  var signedText: Substring

  /// Throws ``OpenIDError/Code/invalidToken`` with the part that is wrong.
  init(parsing text: String) throws(OpenIDError) {
    guard text.utf8.count <= Self.limit else {
      throw OpenIDError(.invalidToken, "the ID token has more than \(Self.limit) bytes")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1])
    else { throw OpenIDError(.invalidToken, "the ID token is not a JSON web token") }
    let name = header["alg"]?.string ?? ""
    guard let algorithm = IssuerKey.Algorithm(rawValue: name) else {
      throw OpenIDError(
        .invalidToken, "the ID token is signed with '\(name.prefix(20))', not RS256 or ES256")
    }
    // The header may name extensions that a receiver must understand (section 4.1.11). This server
    // understands none.
    guard header["crit"] == nil else {
      throw OpenIDError(.invalidToken, "the ID token requires extensions that are not supported")
    }
    guard let signature = Base64URL.decode(parts[2]), !signature.isEmpty else {
      throw OpenIDError(.invalidToken, "the ID token has no signature")
    }
    self.algorithm = algorithm
    self.claims = claims
    self.signature = signature
    keyID = header["kid"]?.string
    signedText = text[..<parts[1].endIndex]
  }

  /// Returns the JSON object in a part of a token; nil for anything else.
  private static func object(_ part: Substring) -> JSONValue? {
    // The caller reports the part that is wrong.
    guard let bytes = Base64URL.decode(part), let json = try? JSONValue(parsing: Data(bytes)),
      json.object != nil, json.isStreamSafe
    else { return nil }
    return json
  }
}
