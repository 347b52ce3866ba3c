import CloudKitModel
import Cryptography
import Foundation
import Synchronization

/// The cipher for texts that clients keep: change tokens, continuations, and the names of databases
/// in URLs.
///
/// Changes and notifications of all users of a database take numbers from one sequence. A client
/// that saw these numbers could count the activity of other users.
///
/// Texts are sealed with AES-128-GCM (NIST SP 800-38D), so a client can neither read nor change
/// one.
public struct TokenCipher: Sendable {
  /// The kind of a sealed text, so that a text of one kind is not accepted as another.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A change token of a zone's or a database's feed.
    case changes = 1
    /// A token of a position in a notification log.
    case notificationLog
    /// A continuation of a query.
    case continuation
    /// A position of a reader of the web courier.
    case courierPosition
    /// The name of a database in a URL.
    case database
    /// The identifier of a share in a URL.
    case shareLink

    /// Whether the text is used in URLs. Public clients decode the other kinds as base64.
    fileprivate var isForURLs: Bool {
      switch self {
      case .courierPosition, .database, .shareLink: true
      case .changes, .notificationLog, .continuation: false
      }
    }
  }

  /// The size of a nonce in bytes, as GCM recommends it.
  private static let nonceSize = 12
  /// Contents are padded to a multiple of this, since their length would reveal how large numbers
  /// are.
  private static let blockSize = 32

  private let cipher: AES128GCM
  private let nonceKey: [UInt8]
  private let tagKey: [UInt8]

  /// Derives the keys from a secret by HKDF (RFC 5869), one for each purpose.
  ///
  /// - Parameter secret: 32 bytes, which all servers on a store share.
  package init(secret: [UInt8]) {
    let key = HKDFSHA256.extract(salt: [], secret: secret)
    func derived(_ purpose: String, _ count: Int) -> [UInt8] {
      HKDFSHA256.expand(key, info: purpose.utf8, count: count)
    }
    cipher = AES128GCM(key: derived("tokens", 16))
    nonceKey = derived("nonces", 32)
    tagKey = derived("change tags", 16)
  }

  /// A cipher for work within the store, which gives no text to clients.
  package static let unused = TokenCipher(secret: [])

  /// Encrypts contents into a text for a client.
  ///
  /// - Parameter isRepeatable: whether equal contents always give the same text, as apps compare
  ///   tokens. Otherwise no two texts are equal, so that comparing them reveals nothing.
  /// - Throws: an error of the cryptography library.
  /// - Returns: base64, or base64url for the kinds that are used in URLs.
  public func seal(
    _ contents: [UInt8], as kind: Kind, isRepeatable: Bool = true
  ) throws -> String {
    var text = [kind.rawValue] + contents + [0x80]
    text += repeatElement(0, count: (Self.blockSize - text.count % Self.blockSize) % Self.blockSize)
    // Derived from the contents, so that different contents have different nonces.
    let nonce =
      isRepeatable
      ? Array(HMACSHA256.code(for: text, key: nonceKey).prefix(Self.nonceSize))
      : SecureRandom.bytes(count: Self.nonceSize)
    let sealed = nonce + (try cipher.seal(text, nonce: nonce))
    return kind.isForURLs ? Base64URL.encode(sealed) : Data(sealed).base64EncodedString()
  }

  /// Returns the contents of a sealed text; nil for a text of another kind or store, or one that
  /// was never sealed.
  public func open(_ sealed: some StringProtocol, as kind: Kind) -> [UInt8]? {
    guard let bytes = kind.isForURLs ? Base64URL.decode(sealed) : Self.base64(String(sealed)),
      bytes.count > Self.nonceSize,
      // What was not sealed by this store opens as nil.
      let text = try? cipher.open(
        Array(bytes.dropFirst(Self.nonceSize)), nonce: Array(bytes.prefix(Self.nonceSize))),
      text.first == kind.rawValue, let end = text.lastIndex(of: 0x80), end > 0
    else { return nil }
    return Array(text[1..<end])
  }

  /// The bytes of a base64 text; nil for a text that is not the canonical encoding.
  private static func base64(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      return nil
    }
    return [UInt8](data)
  }

  // MARK: Names of databases and shares

  /// Returns the name of a database in URLs.
  public func name(of database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue), as: .database)
  }

  /// Returns the database with this name; nil if the text is not a name that this store made.
  public func database(named name: some StringProtocol) -> DatabaseID? {
    guard let bytes = open(name, as: .database), bytes.count == 8 else { return nil }
    return DatabaseID(rawValue: Self.number(bytes))
  }

  /// Returns the identifier of a share in URLs.
  ///
  /// - Parameter link: the number of the link in the database.
  public func shareLink(_ link: Int64, in database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue) + Self.bytes(of: link), as: .shareLink)
  }

  /// Returns the number of a link and its database; nil if the text is not an identifier that this
  /// store made.
  public func shareLink(
    named name: some StringProtocol
  ) -> (link: Int64, database: DatabaseID)? {
    guard let bytes = open(name, as: .shareLink), bytes.count == 16 else { return nil }
    return (Self.number(bytes[8...]), DatabaseID(rawValue: Self.number(bytes[..<8])))
  }

  /// Returns the eight bytes of a number, the highest first.
  private static func bytes(of number: Int64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// Returns the number with these eight bytes.
  private static func number(_ bytes: some Sequence<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  // MARK: Change tags

  /// Creates the maker of change tags. This takes longer than hundreds of tags, so callers keep the
  /// result.
  package func makeChangeTags() throws -> ChangeTags {
    ChangeTags(block: try AES128Block(key: tagKey))
  }
}

/// The maker of the change tags of records. A tag is an encrypted number in base 36, so clients
/// cannot compare tags by age. A lock protects the cipher's state.
package final class ChangeTags: Sendable {
  private let block: Mutex<AES128Block>

  fileprivate init(block: sending AES128Block) {
    self.block = Mutex(block)
  }

  /// Returns the tag of a record whose last change has this number.
  ///
  /// The tag has half of the encrypted block, 64 bits. Two changes of a record have the same tag
  /// with a probability of 2⁻⁶⁴.
  package func tag(ofVersion version: Int64, in database: DatabaseID) -> String {
    let sealed = block.withLock {
      $0.encrypt(UInt64(bitPattern: database.rawValue), UInt64(bitPattern: version)).high
    }
    return String(sealed, radix: 36)
  }
}
