import COpenSSL

/// A reference to a key of OpenSSL, which this object owns.
///
/// Unchecked: a key is not changed after its creation here, and several threads may read a key at
/// the same time (openssl-threads(7)).
final class KeyHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// Reads a P-256 key from PEM with `read`, which returns `nil` if it cannot. `role` names the key
  /// in errors, such as "private key".
  static func reading(
    _ pem: String, as role: String, _ read: (OpaquePointer) -> OpaquePointer?
  ) throws(CryptographyError) -> KeyHandle {
    let memory = try MemoryStream(containing: pem)
    guard let pointer = read(memory.pointer) else {
      throw .openSSL(.invalidKey, "the \(role) is not a key in PEM form")
    }
    let key = KeyHandle(owning: pointer)
    guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC else {
      throw CryptographyError(.invalidKey, "the \(role) is not an elliptic-curve key")
    }
    let curve = key.curveName
    guard curve == "prime256v1" else {
      throw CryptographyError(
        .invalidKey, "the \(role) is on the curve '\(curve)'; ES256 needs P-256 (prime256v1)")
    }
    return key
  }

  private var curveName: String {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return "" }
    return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
