import CloudKitModel
import Cryptography
import Foundation
import Synchronization

/// Keeps what clients are given to keep from telling them anything: change tags, tokens, and the names of
/// databases in URLs.
///
/// All that happens in a database takes numbers of one supply: changes, and the notifications of everybody
/// else. Who saw them could count what others do.
public struct TokenCipher: Sendable {
  /// What is sealed, so that nothing passes for something else.
  public enum Kind: UInt8, Sendable, CaseIterable {
    case changes = 1
    case notificationLog
    case continuation
    case courierPosition
    case database

    /// Whether it stands in URLs. Public clients decode the others as base64.
    fileprivate var isForURLs: Bool { self == .courierPosition || self == .database }
  }

  private static let nonceSize = 12
  /// Contents are filled up to a multiple of this, or their length would tell how large numbers are.
  private static let blockSize = 32

  private let cipher: AES128GCM
  private let nonceKey: [UInt8]
  private let tagKey: [UInt8]

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

  /// For work within the store, that gives nothing away.
  package static let unused = TokenCipher(secret: [])

  /// The text to give away for some contents.
  ///
  /// - Parameter isRepeatable: Whether the text is always the same for the same contents, as apps compare
  ///   tokens. Otherwise no two texts are the same, so that comparing them tells nothing.
  public func seal(
    _ contents: [UInt8], as kind: Kind, isRepeatable: Bool = true
  ) throws -> String {
    var text = [kind.rawValue] + contents + [0x80]
    text += repeatElement(0, count: (Self.blockSize - text.count % Self.blockSize) % Self.blockSize)
    // Different for different contents, without being remembered.
    let nonce =
      isRepeatable
      ? Array(HMACSHA256.code(for: text, key: nonceKey).prefix(Self.nonceSize))
      : SecureRandom.bytes(count: Self.nonceSize)
    let sealed = nonce + (try cipher.seal(text, nonce: nonce))
    return kind.isForURLs ? Base64URL.encode(sealed) : Data(sealed).base64EncodedString()
  }

  /// The contents that were sealed; nil for what was not, or as something else, or in another store.
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

  /// The bytes of a text in base64; nil when another text stands for them.
  private static func base64(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      return nil
    }
    return [UInt8](data)
  }

  // MARK: Names of databases

  /// What a database is called in URLs.
  public func name(of database: DatabaseID) throws -> String {
    try seal(withUnsafeBytes(of: database.rawValue.bigEndian) { Array($0) }, as: .database)
  }

  /// The database of a name; nil when it is none.
  public func database(named name: some StringProtocol) -> DatabaseID? {
    guard let bytes = open(name, as: .database), bytes.count == 8 else { return nil }
    return DatabaseID(rawValue: bytes.reduce(0) { $0 << 8 | Int64($1) })
  }

  // MARK: Change tags

  /// Makes change tags. It takes longer than hundreds of them; keep it.
  package func makeChangeTags() throws -> ChangeTags {
    ChangeTags(block: try AES128Block(key: tagKey))
  }
}

/// The change tags of records.
package final class ChangeTags: Sendable {
  private let block: Mutex<AES128Block>

  fileprivate init(block: sending AES128Block) {
    self.block = Mutex(block)
  }

  /// The tag of a record whose last change has this number.
  ///
  /// Of the 64 bits each is used, so that two changes of a record do not come to have the same.
  package func tag(ofVersion version: Int64, in database: DatabaseID) -> String {
    let sealed = block.withLock {
      $0.encrypt(UInt64(bitPattern: database.rawValue), UInt64(bitPattern: version)).high
    }
    return String(sealed, radix: 36)
  }
}
