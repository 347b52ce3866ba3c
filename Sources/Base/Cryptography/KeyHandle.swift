import COpenSSL

/// Owns one reference to an OpenSSL key.
///
/// Unchecked, for OpenSSL keys are not changed after they were made here, and reading one from
/// several threads at a time is allowed (openssl-threads(7)).
final class KeyHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// Reads a key with `read`, which gets the text as an OpenSSL stream.
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
