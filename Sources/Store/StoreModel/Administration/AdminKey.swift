import CloudKitModel

/// A key of someone who runs the server, as the store knows it: by its hash alone.
public struct AdminKey: Sendable, Hashable {
  /// SHA-256 of the key's text.
  public var hash: [UInt8]
  /// For people; may be empty.
  public var label: String
  public var created: Timestamp
  /// Since when the key is refused; nil when it is not.
  public var revoked: Timestamp?

  /// Names the key to people, for its text is kept nowhere: 16 hexadecimal digits of its hash.
  public var identifier: String {
    hash.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  public init(hash: [UInt8], label: String, created: Timestamp, revoked: Timestamp? = nil) {
    self.hash = hash
    self.label = label
    self.created = created
    self.revoked = revoked
  }
}
