import Cryptography
import JSONCoding

/// A public key of an issuer, for the check of ID tokens. The issuer signs the tokens with the
/// matching private key.
struct IssuerKey: Sendable {
  /// The accepted signature algorithms. Others are dangerous: `none` needs no key, and an HMAC
  /// could use the public key as its secret.
  enum Algorithm: String, Sendable, Hashable {
    /// RSA with PKCS #1 v1.5 padding and SHA-256.
    case rs256 = "RS256"
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"
  }

  /// The key itself.
  private enum Key {
    case rsa(RS256PublicKey)
    case curve(ES256PublicKey)
  }

  /// The key's name in the issuer's list; nil if it has none.
  var keyID: String?
  /// The only algorithm with which the key is used.
  var algorithm: Algorithm
  private let key: Key

  /// Reads a JSON web key (RFC 7517); nil for a key of another kind, for another use, or with
  /// invalid values.
  init?(_ json: JSONValue) {
    if let use = json["use"]?.string, use != "sig" { return nil }
    func bytes(_ member: String) -> [UInt8]? { json[member]?.string.flatMap(Base64URL.decode) }
    switch json["kty"]?.string {
    case "RSA":
      guard let modulus = bytes("n"), let exponent = bytes("e"),
        // The list may contain keys that this server cannot use. They are skipped.
        let key = try? RS256PublicKey(modulus: modulus, exponent: exponent)
      else { return nil }
      self.key = .rsa(key)
      algorithm = .rs256
    case "EC":
      guard json["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"),
        // The list may contain keys that this server cannot use. They are skipped.
        let key = try? ES256PublicKey(x: x, y: y)
      else { return nil }
      self.key = .curve(key)
      algorithm = .es256
    default:
      return nil
    }
    if let name = json["alg"]?.string, name != algorithm.rawValue { return nil }
    keyID = json["kid"]?.string
  }

  func isValid(signature: [UInt8], for message: some Sequence<UInt8>) -> Bool {
    switch key {
    case .rsa(let key):
      return key.isValid(signature: signature, for: message)
    case .curve(let key):
      // Bytes that cannot be parsed as a signature are not a valid signature.
      guard let signature = try? ES256Signature(raw: signature) else { return false }
      return key.isValid(signature: signature, for: message)
    }
  }
}

/// The keys that an issuer publishes (RFC 7517, section 5).
struct IssuerKeySet: Sendable {
  /// The maximum number of keys that are read. The rest of the list is ignored.
  private static let limit = 100

  private let keys: [IssuerKey]

  /// Reads a JSON web key set. Keys that cannot be used are skipped.
  init(_ json: JSONValue, issuer: String) throws(OpenIDError) {
    guard let list = json["keys"]?.array else {
      throw OpenIDError(.badAnswer, "the keys of \(issuer) are not a list")
    }
    keys = list.prefix(Self.limit).compactMap(IssuerKey.init)
  }

  /// Returns the key with a name and an algorithm; nil if there is none.
  ///
  /// - Parameter keyID: the key's name; nil if the token names no key. With nil, the result is the
  ///   only key of the algorithm, or nil if there are several.
  func key(named keyID: String?, for algorithm: IssuerKey.Algorithm) -> IssuerKey? {
    let candidates = keys.filter { $0.algorithm == algorithm }
    guard let keyID else { return candidates.count == 1 ? candidates[0] : nil }
    return candidates.first { $0.keyID == keyID }
  }
}
