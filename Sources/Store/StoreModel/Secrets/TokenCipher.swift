import CloudKitModel
import Cryptography
import Foundation
import Synchronization

/// The cipher for texts that clients keep: change tokens, continuations, and the names of databases
/// in URLs.
///
/// The texts contain numbers. All changes and notifications of a database get their numbers from
/// one sequence, so a client that can read the numbers can count the activity of other users.
///
/// The cipher encrypts and authenticates texts with AES-128-GCM (NIST SP 800-38D). So a client
/// cannot read a text, and the store refuses a text that a client has changed. An encrypted text is
/// called *sealed*.
public struct TokenCipher: Sendable {
  /// The kind of a sealed text. A text of one kind is not accepted as a text of another kind.
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
    /// The name of a share in the URL of a file. Nobody can open the share by it.
    case shareOfFile

    /// Whether texts of this kind are used in URLs, and so have the encoding base64url. Other
    /// clients than Petrel's decode the other kinds as base64.
    fileprivate var isForURLs: Bool {
      switch self {
      case .courierPosition, .database, .shareLink, .shareOfFile: true
      case .changes, .notificationLog, .continuation: false
      }
    }
  }

  /// The size of a nonce in bytes, as GCM recommends it.
  private static let nonceSize = 12
  /// The contents with a byte for the kind are padded to a multiple of this number of bytes.
  /// Otherwise the length of a text would reveal the size of its numbers.
  private static let blockSize = 32

  private let cipher: AES128GCM
  private let nonceKey: [UInt8]
  private let tagKey: [UInt8]

  /// Creates a cipher. It derives three keys from a secret by HKDF (RFC 5869), one for each
  /// purpose.
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

  /// A cipher with an empty secret, for work within the store that gives no texts to clients.
  package static let unused = TokenCipher(secret: [])

  /// Seals contents as a text for a client.
  ///
  /// - Parameter isRepeatable: whether equal contents always give the same text, because apps
  ///   compare tokens. If false, two texts of equal contents differ, so a comparison of texts
  ///   reveals nothing.
  /// - Throws: an error of the cryptography library.
  /// - Returns: base64, or base64url for the kinds that are used in URLs.
  public func seal(
    _ contents: [UInt8], as kind: Kind, isRepeatable: Bool = true
  ) throws -> String {
    var text = [kind.rawValue] + contents + [0x80]
    text += repeatElement(0, count: (Self.blockSize - text.count % Self.blockSize) % Self.blockSize)
    // A repeatable nonce is derived from the contents, so different contents have different nonces.
    let nonce =
      isRepeatable
      ? Array(HMACSHA256.code(for: text, key: nonceKey).prefix(Self.nonceSize))
      : SecureRandom.bytes(count: Self.nonceSize)
    let sealed = nonce + (try cipher.seal(text, nonce: nonce))
    return kind.isForURLs ? Base64URL.encode(sealed) : Data(sealed).base64EncodedString()
  }

  /// Returns the contents of a sealed text. The result is nil for a text of another kind, for a
  /// text of another store, and for a text that no cipher has sealed.
  public func open(_ sealed: some StringProtocol, as kind: Kind) -> [UInt8]? {
    guard let bytes = kind.isForURLs ? Base64URL.decode(sealed) : Self.base64(String(sealed)),
      bytes.count > Self.nonceSize,
      // An error means that the text was not sealed with this key.
      let text = try? cipher.open(
        Array(bytes.dropFirst(Self.nonceSize)), nonce: Array(bytes.prefix(Self.nonceSize))),
      text.first == kind.rawValue, let end = text.lastIndex(of: 0x80), end > 0
    else { return nil }
    return Array(text[1..<end])
  }

  /// Returns the bytes of a base64 text; nil for any text other than the canonical encoding of its
  /// bytes.
  private static func base64(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      return nil
    }
    return [UInt8](data)
  }

  // MARK: Names of databases and shares

  /// Returns the name of a database for URLs: its sealed number.
  public func name(of database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue), as: .database)
  }

  /// Returns the database with this name; nil if the text is not a name that this store made.
  public func database(named name: some StringProtocol) -> DatabaseID? {
    guard let bytes = open(name, as: .database), bytes.count == 8 else { return nil }
    return DatabaseID(rawValue: Self.number(bytes))
  }

  /// The number of a share's link, and its database.
  public typealias ShareLink = (link: Int64, database: DatabaseID)

  /// Returns the identifier of a share in URLs.
  ///
  /// - Parameter link: the number of the link in the database.
  public func shareLink(_ link: Int64, in database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue) + Self.bytes(of: link), as: .shareLink)
  }

  /// Returns the link with this identifier; nil if the text is not an identifier that this store
  /// made.
  public func shareLink(named name: some StringProtocol) -> ShareLink? {
    link(name, as: .shareLink)
  }

  /// Returns the name of a share in the URL of a file; nil if the text is not the identifier of a
  /// share that this store made.
  public func shareOfFile(_ shortGUID: String) throws -> String? {
    try open(shortGUID, as: .shareLink).map { try seal($0, as: .shareOfFile) }
  }

  /// Returns the link of the share with this name in the URL of a file; nil if the text is not a name
  /// that this store made.
  public func shareOfFile(named name: some StringProtocol) -> ShareLink? {
    link(name, as: .shareOfFile)
  }

  private func link(_ name: some StringProtocol, as kind: Kind) -> ShareLink? {
    guard let bytes = open(name, as: kind), bytes.count == 16 else { return nil }
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

  /// Creates the object that makes change tags. Its creation takes longer than hundreds of tags, so
  /// callers keep the object.
  package func makeChangeTags() throws -> ChangeTags {
    ChangeTags(block: try AES128Block(key: tagKey))
  }
}

/// The object that makes the change tags of records. A tag is an encrypted number in base 36, so a
/// client cannot find out which of two tags is older. A lock protects the cipher's state.
package final class ChangeTags: Sendable {
  private let block: Mutex<AES128Block>

  fileprivate init(block: sending AES128Block) {
    self.block = Mutex(block)
  }

  /// Returns the tag of a record whose last change has this number.
  ///
  /// The tag contains 64 bits: half of the encrypted block. Two changes of a record have the same
  /// tag with a probability of about 2⁻⁶⁴.
  package func tag(ofVersion version: Int64, in database: DatabaseID) -> String {
    let sealed = block.withLock {
      $0.encrypt(UInt64(bitPattern: database.rawValue), UInt64(bitPattern: version)).high
    }
    return String(sealed, radix: 36)
  }
}
