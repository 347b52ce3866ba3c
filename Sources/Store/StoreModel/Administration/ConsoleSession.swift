import CloudKitModel

/// A browser in which someone signed in to the console with an admin key.
public struct ConsoleSession: Sendable, Hashable {
  /// SHA-256 of the text in the browser's cookie.
  public var hash: [UInt8]
  /// The admin key that was shown.
  public var keyHash: [UInt8]
  public var created: Timestamp
  public var expires: Timestamp

  public init(hash: [UInt8], keyHash: [UInt8], created: Timestamp, expires: Timestamp) {
    self.hash = hash
    self.keyHash = keyHash
    self.created = created
    self.expires = expires
  }
}

extension ConsoleSession {
  /// Sessions of one key.
  public static let limit = 100
}
