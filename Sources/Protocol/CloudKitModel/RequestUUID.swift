import Foundation

/// The identifier of a request, which the answer's header `X-Apple-Request-UUID` contains.
///
/// The identifier is a random UUID (RFC 9562, version 4) whose last four bytes are zero. The
/// notification IDs of the request's changes differ from the identifier only in these four bytes.
/// The request of a notification is therefore known from the notification ID, and the server need
/// not store the identifier.
public struct RequestUUID: Hashable, Sendable, CustomStringConvertible {
  /// The UUID with four zero bytes at its end.
  private let uuid: UUID

  /// Creates a new random identifier.
  public init() {
    self.init(ofNotification: RandomUUID.make())
  }

  /// Creates the identifier of the request that caused a notification.
  public init(ofNotification notificationID: UUID) {
    var bytes = notificationID.uuid
    uuid = withUnsafeMutableBytes(of: &bytes) { Self.uuid($0, endingIn: 0) }
  }

  /// Returns the notification ID of one of the request's changes.
  ///
  /// - Parameter sequence: A number that differs between the changes of a request. Only its lower
  ///   32 bits count.
  public func notificationID(ofChange sequence: Int64) -> UUID {
    var bytes = uuid.uuid
    return withUnsafeMutableBytes(of: &bytes) {
      Self.uuid($0, endingIn: UInt32(truncatingIfNeeded: sequence))
    }
  }

  /// The UUID in lower case, such as `5f8e0c4e-77a1-4f6e-9c0a-4f1f00000000`.
  public var description: String { uuid.uuidString.lowercased() }

  private static func uuid(
    _ bytes: UnsafeMutableRawBufferPointer, endingIn end: UInt32
  ) -> UUID {
    bytes.storeBytes(of: end.bigEndian, toByteOffset: 12, as: UInt32.self)
    return UUID(uuid: bytes.load(as: uuid_t.self))
  }
}
