import Cryptography
import Foundation
import JSONCoding

/// A JSON web token in its compact form, taken apart and not yet believed (RFC 7515, section 7.1).
struct SignedToken: Sendable {
  /// Bytes; longer ones are refused before anything is read.
  static let limit = 16_384

  var algorithm: IssuerKey.Algorithm
  var keyID: String?
  var claims: JSONValue
  var signature: [UInt8]
  /// What the signature is over.
  var signedText: Substring

  /// - Throws: `invalidToken` saying which part is wrong.
  init(parsing text: String) throws(OpenIDError) {
    guard text.utf8.count <= Self.limit else {
      throw OpenIDError(.invalidToken, "the ID token has more than \(Self.limit) bytes")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1])
    else { throw OpenIDError(.invalidToken, "the ID token is no JSON web token") }
    let name = header["alg"]?.string ?? ""
    guard let algorithm = IssuerKey.Algorithm(rawValue: name) else {
      throw OpenIDError(
        .invalidToken, "the ID token is signed with '\(name.prefix(20))', not RS256 or ES256")
    }
    // Extensions that must be understood (section 4.1.11): there are none here.
    guard header["crit"] == nil else {
      throw OpenIDError(.invalidToken, "the ID token asks for extensions that are not known here")
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

  private static func object(_ part: Substring) -> JSONValue? {
    // The caller gets an error that names the part.
    guard let bytes = Base64URL.decode(part), let json = try? JSONValue(parsing: Data(bytes)),
      json.object != nil, json.isStreamSafe
    else { return nil }
    return json
  }
}
