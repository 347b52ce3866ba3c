import CloudKitModel

/// A key of an administrator, which permits the use of the admin API and of the console. The store
/// has only the key's hash, not its text.
public struct AdminKey: Sendable, Hashable {
  /// SHA-256 of the key's text.
  public var hash: [UInt8]
  /// A label for people; may be empty.
  public var label: String
  /// The time of the key's creation.
  public var created: Timestamp
  /// The time at which the key was revoked; nil for a valid key.
  public var revoked: Timestamp?

  /// The name of the key for people: the first 16 hexadecimal digits of its hash.
  public var identifier: String { hash.prefix(8).hexadecimal }

  /// Creates a key from the SHA-256 hash of its text.
  public init(hash: [UInt8], label: String, created: Timestamp, revoked: Timestamp? = nil) {
    self.hash = hash
    self.label = label
    self.created = created
    self.revoked = revoked
  }
}

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
