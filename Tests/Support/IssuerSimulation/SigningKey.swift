import COpenSSL
import Cryptography
import JSONCoding

/// A key that a simulated issuer signs with, and publishes.
public enum SigningKey: Sendable {
  case rsa(RSASigningKey)
  case curve(ES256PrivateKey)

  public static func makeRSA(bits: Int32 = 2048) -> SigningKey { .rsa(RSASigningKey(bits: bits)) }
  public static func makeCurve() throws -> SigningKey { .curve(try ES256PrivateKey()) }

  public var algorithm: String {
    switch self {
    case .rsa: "RS256"
    case .curve: "ES256"
    }
  }

  public func signature(for message: String) throws -> [UInt8] {
    switch self {
    case .rsa(let key): key.signature(for: message)
    case .curve(let key): try key.signature(for: message.utf8).raw
    }
  }

  /// The public half as a JSON web key.
  public func publicJSON(keyID: String) -> JSONValue {
    switch self {
    case .rsa(let key):
      [
        "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(keyID),
        "n": .string(Base64URL.encode(key.number("n"))),
        "e": .string(Base64URL.encode(key.number("e"))),
      ]
    case .curve(let key):
      [
        "kty": "EC", "use": "sig", "crv": "P-256", "kid": .string(keyID),
        "x": .string(Base64URL.encode(Self.point(of: key).prefix(32))),
        "y": .string(Base64URL.encode(Self.point(of: key).suffix(32))),
      ]
    }
  }

  /// The two coordinates: what the key's PEM text ends with.
  private static func point(of key: ES256PrivateKey) -> [UInt8] {
    let lines = (try? key.publicKey.pem)?.split(separator: "\n").filter { !$0.hasPrefix("-") }
    let text = (lines ?? []).joined().map { ["+": "-", "/": "_"][$0] ?? $0 }
    return Array((Base64URL.decode(String(text.filter { $0 != "=" })) ?? []).suffix(64))
  }
}

/// An RSA key, made anew. Unchecked, for it is not changed once it was made.
public final class RSASigningKey: @unchecked Sendable {
  private let pointer: OpaquePointer?

  init(bits: Int32) {
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    precondition(
      EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1
        && EVP_PKEY_generate(context, &key) == 1)
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }

  /// The modulus `n` or the exponent `e`, big-endian.
  public func number(_ name: String) -> [UInt8] {
    var number: OpaquePointer?
    precondition(EVP_PKEY_get_bn_param(pointer, name, &number) == 1)
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
    BN_bn2bin(number, &bytes)
    return bytes
  }

  func signature(for message: String) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 1024)
    var count = signature.count
    let bytes = Array(message.utf8)
    precondition(
      EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1
        && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1)
    return Array(signature.prefix(count))
  }
}
