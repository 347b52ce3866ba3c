import Foundation

/// Random UUIDs (RFC 9562, version 4) from the system's generator.
///
/// Foundation's own opens and closes the random device for each.
public enum RandomUUID {
  public static func make() -> UUID {
    var generator = SystemRandomNumberGenerator()
    var bits = (generator.next(), generator.next())
    return withUnsafeMutableBytes(of: &bits) { bytes in
      bytes[6] = bytes[6] & 0x0F | 0x40
      bytes[8] = bytes[8] & 0x3F | 0x80
      return UUID(uuid: bytes.load(as: uuid_t.self))
    }
  }
}
