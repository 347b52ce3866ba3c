import Foundation

/// What a request is called, from its answer to the pushes that its changes lead to.
///
/// A random UUID (RFC 9562, version 4) that ends in four zero bytes. The notification IDs of the
/// request's changes differ from it in these bytes alone. So it is kept nowhere, and whatever has a
/// notification ID tells which request it is owed to.
public struct RequestUUID: Hashable, Sendable, CustomStringConvertible {
  private let uuid: UUID

  public init() {
    self.init(ofNotification: RandomUUID.make())
  }

  /// The request that a notification is owed to.
  public init(ofNotification notificationID: UUID) {
    var bytes = notificationID.uuid
    uuid = withUnsafeMutableBytes(of: &bytes) { Self.uuid($0, endingIn: 0) }
  }

  /// The notification ID of one of the request's changes.
  ///
  /// - Parameter sequence: tells the changes of a request apart by its lower 32 bits.
  public func notificationID(ofChange sequence: Int64) -> UUID {
    var bytes = uuid.uuid
    return withUnsafeMutableBytes(of: &bytes) {
      Self.uuid($0, endingIn: UInt32(truncatingIfNeeded: sequence))
    }
  }

  /// In small letters.
  public var description: String { uuid.uuidString.lowercased() }

  private static func uuid(
    _ bytes: UnsafeMutableRawBufferPointer, endingIn end: UInt32
  ) -> UUID {
    bytes.storeBytes(of: end.bigEndian, toByteOffset: 12, as: UInt32.self)
    return UUID(uuid: bytes.load(as: uuid_t.self))
  }
}
