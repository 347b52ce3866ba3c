import Foundation

/// A generator of random UUIDs (RFC 9562, version 4) that uses the system's random numbers.
///
/// The generator is faster than Foundation's `UUID()`, which opens and closes the random device for
/// each UUID.
public enum RandomUUID {
  /// Returns a new UUID with 122 random bits.
  public static func make() -> UUID {
    var bits: (UInt64, UInt64) = (0, 0)
    return withUnsafeMutableBytes(of: &bits) { bytes in
      let result = getentropy(bytes.baseAddress, bytes.count)
      // The call fails only on kernels before Linux 3.17.
      precondition(result == 0, "the system has no random numbers")
      bytes[6] = bytes[6] & 0x0F | 0x40
      bytes[8] = bytes[8] & 0x3F | 0x80
      return UUID(uuid: bytes.load(as: uuid_t.self))
    }
  }
}
