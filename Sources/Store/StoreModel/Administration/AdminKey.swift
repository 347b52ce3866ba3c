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
  public var identifier: String {
    hash.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Creates a key from the SHA-256 hash of its text.
  public init(hash: [UInt8], label: String, created: Timestamp, revoked: Timestamp? = nil) {
    self.hash = hash
    self.label = label
    self.created = created
    self.revoked = revoked
  }
}
