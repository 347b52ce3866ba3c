import Cryptography
import JSONCoding

/// A key by which an issuer's signatures are checked.
struct IssuerKey: Sendable {
  /// The algorithms that are accepted, and no others: with `none` anyone could sign, and with an
  /// HMAC everyone who knows the public key.
  enum Algorithm: String, Sendable, Hashable {
    case rs256 = "RS256"
    case es256 = "ES256"
  }

  private enum Key {
    case rsa(RS256PublicKey)
    case curve(ES256PublicKey)
  }

  var keyID: String?
  var algorithm: Algorithm
  private let key: Key

  /// Reads a JSON web key (RFC 7517); nil for one that is not for signatures of these kinds.
  init?(_ json: JSONValue) {
    if let use = json["use"]?.string, use != "sig" { return nil }
    func bytes(_ member: String) -> [UInt8]? { json[member]?.string.flatMap(Base64URL.decode) }
    switch json["kty"]?.string {
    case "RSA":
      guard let modulus = bytes("n"), let exponent = bytes("e"),
        // Keys that cannot be used are passed over.
        let key = try? RS256PublicKey(modulus: modulus, exponent: exponent)
      else { return nil }
      self.key = .rsa(key)
      algorithm = .rs256
    case "EC":
      guard json["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"),
        // Keys that cannot be used are passed over.
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
      // What is no signature is not valid.
      guard let signature = try? ES256Signature(raw: signature) else { return false }
      return key.isValid(signature: signature, for: message)
    }
  }
}

/// The keys that an issuer publishes (RFC 7517, section 5).
struct IssuerKeySet: Sendable {
  /// Keys that are read; those behind them are passed over.
  private static let limit = 100

  private let keys: [IssuerKey]

  /// - Throws: `badAnswer` when there is no list of keys. Keys of other kinds are passed over.
  init(_ json: JSONValue, issuer: String) throws(OpenIDError) {
    guard let list = json["keys"]?.array else {
      throw OpenIDError(.badAnswer, "the keys of \(issuer) are no list")
    }
    keys = list.prefix(Self.limit).compactMap(IssuerKey.init)
  }

  /// The key of this name, or the only one of the algorithm for a token that names none.
  func key(named keyID: String?, for algorithm: IssuerKey.Algorithm) -> IssuerKey? {
    let candidates = keys.filter { $0.algorithm == algorithm }
    guard let keyID else { return candidates.count == 1 ? candidates[0] : nil }
    return candidates.first { $0.keyID == keyID }
  }
}
