import Cryptography
import Foundation
import Synchronization

/// The cipher for texts that clients keep: change tokens, continuations, and the names of databases
/// in URLs.
///
/// The texts contain numbers. All changes and notifications of a database get their numbers from
/// one sequence, so a client that can read the numbers can count the activity of other users.
///
/// AES-128-GCM (NIST SP 800-38D) encrypts and authenticates the texts, so the store refuses a text
/// that a client has changed. An encrypted text is called *sealed*.
public struct TokenCipher: Sendable {
  /// The kind of a sealed text, which is not accepted as another kind.
  public enum Kind: UInt8, Sendable, CaseIterable {
    case changes = 1
    case notificationLog
    case continuation
    case courierPosition
    case database
    case shareLink
    /// Nobody can open the share by it.
    case shareOfFile

    /// Such texts are base64url. Other clients than Petrel's decode the other kinds as base64.
    fileprivate var isForURLs: Bool {
      switch self {
      case .courierPosition, .database, .shareLink, .shareOfFile: true
      case .changes, .notificationLog, .continuation: false
      }
    }
  }

  private static let nonceSize = 12
  /// The contents are padded to a multiple of these bytes. The length of a text would otherwise
  /// reveal the size of its numbers.
  private static let blockSize = 32

  private let cipher: AES128GCM
  private let nonceKey: [UInt8]
  private let tagKey: [UInt8]

  /// Derives three keys by HKDF (RFC 5869) from 32 bytes that all servers on a store share.
  package init(secret: [UInt8]) {
    let key = HKDFSHA256.extract(salt: [], secret: secret)
    func derived(_ purpose: String, _ count: Int) -> [UInt8] {
      HKDFSHA256.expand(key, info: purpose.utf8, count: count)
    }
    cipher = AES128GCM(key: derived("tokens", 16))
    nonceKey = derived("nonces", 32)
    tagKey = derived("change tags", 16)
  }

  /// A cipher for work within the store that gives no texts to clients.
  package static let unused = TokenCipher(secret: [])

  /// Seals contents as a text for a client: base64, or base64url for the kinds in URLs.
  ///
  /// - Parameter isRepeatable: whether equal contents always give the same text, because apps
  ///   compare tokens. If false, a comparison of texts reveals nothing.
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

  /// The contents of a sealed text; nil for a text of another kind or store, or without a seal.
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

  /// Returns nil for any text other than the canonical encoding of its bytes.
  private static func base64(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      return nil
    }
    return [UInt8](data)
  }

  // MARK: Names of databases and shares

  /// The sealed name of a database for URLs.
  public func name(of database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue), as: .database)
  }

  /// The database with this name; nil for a name that this store did not make.
  public func database(named name: some StringProtocol) -> DatabaseID? {
    guard let bytes = open(name, as: .database), bytes.count == 8 else { return nil }
    return DatabaseID(rawValue: Self.number(bytes))
  }

  /// The number of a share's link, and its database.
  public typealias ShareLink = (link: Int64, database: DatabaseID)

  /// The sealed identifier of a share's link in URLs.
  public func shareLink(_ link: Int64, in database: DatabaseID) throws -> String {
    try seal(Self.bytes(of: database.rawValue) + Self.bytes(of: link), as: .shareLink)
  }

  /// The link with this identifier; nil for one that this store did not make.
  public func shareLink(named name: some StringProtocol) -> ShareLink? {
    link(name, as: .shareLink)
  }

  /// The name of a share in the URL of a file; nil if this store did not make the share's
  /// identifier.
  public func shareOfFile(_ shortGUID: String) throws -> String? {
    try open(shortGUID, as: .shareLink).map { try seal($0, as: .shareOfFile) }
  }

  /// The link of the share with this name in the URL of a file; nil for a name that this store did
  /// not make.
  public func shareOfFile(named name: some StringProtocol) -> ShareLink? {
    link(name, as: .shareOfFile)
  }

  private func link(_ name: some StringProtocol, as kind: Kind) -> ShareLink? {
    guard let bytes = open(name, as: kind), bytes.count == 16 else { return nil }
    return (Self.number(bytes[8...]), DatabaseID(rawValue: Self.number(bytes[..<8])))
  }

  private static func bytes(of number: Int64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  // MARK: Change tags

  /// Takes longer than hundreds of tags, so callers keep the object.
  package func makeChangeTags() throws -> ChangeTags {
    ChangeTags(block: try AES128Block(key: tagKey))
  }
}

/// The maker of records' change tags: encrypted numbers in base 36, so a client cannot find out
/// which of two tags is older. A lock protects the cipher's state.
package final class ChangeTags: Sendable {
  private let block: Mutex<AES128Block>

  fileprivate init(block: sending AES128Block) {
    self.block = Mutex(block)
  }

  /// A tag is 64 bits, half of the encrypted block. Two changes of a record have the same tag with
  /// a probability of about 2⁻⁶⁴.
  package func tag(ofVersion version: Int64, in database: DatabaseID) -> String {
    let sealed = block.withLock {
      $0.encrypt(UInt64(bitPattern: database.rawValue), UInt64(bitPattern: version)).high
    }
    return String(sealed, radix: 36)
  }
}

extension Sequence<UInt8> {
  /// The bytes as lower-case hexadecimal digits, two for each byte.
  package var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
