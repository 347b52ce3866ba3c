import CloudKitModel

/// A browser's session in the console, begun with an admin key.
public struct ConsoleSession: Sendable, Hashable {
  /// SHA-256 of the text in the browser's cookie.
  public var hash: [UInt8]
  /// SHA-256 of the text of the admin key with which the session began.
  public var keyHash: [UInt8]
  /// The time at which the administrator signed in.
  public var created: Timestamp
  /// The time from which the session is refused.
  public var expires: Timestamp

  /// Creates a session from the hashes of its cookie and its key.
  public init(hash: [UInt8], keyHash: [UInt8], created: Timestamp, expires: Timestamp) {
    self.hash = hash
    self.keyHash = keyHash
    self.created = created
    self.expires = expires
  }
}

extension ConsoleSession {
  /// The most sessions of one key. When a further session begins, the key's session that would
  /// expire first ends.
  public static let limit = 100
}
