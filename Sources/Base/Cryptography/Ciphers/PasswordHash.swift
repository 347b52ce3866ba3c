import CSodium
import Foundation

/// The creation and the check of password hashes with Argon2id (RFC 9106). The algorithm needs much
/// memory, which makes guessing passwords expensive on any hardware.
///
/// Both functions take tens of milliseconds with the default cost, need ``Cost/memory`` bytes and
/// block the thread.
///
/// ```swift
/// let hash = try PasswordHash.make("correct horse battery staple")
/// PasswordHash.isMatch("correct horse", hash)  // false
/// ```
public enum PasswordHash {
  /// The time and memory that a hash needs.
  public struct Cost: Sendable, Hashable {
    /// The number of passes over the memory.
    public var passes: Int
    /// The memory in bytes.
    public var memory: Int

    /// Creates a cost.
    public init(passes: Int, memory: Int) {
      self.passes = passes
      self.memory = memory
    }

    /// Two passes over 64 MiB: libsodium's recommendation for interactive sign-in.
    public static let interactive = Cost(passes: 2, memory: 64 << 20)
  }

  private static let isReady = sodium_init() >= 0

  /// Hashes a password with a random salt.
  ///
  /// - Returns: a text with the algorithm, the cost, the salt and the hash.
  /// - Throws: ``CryptographyError/Code/libraryFailure`` when there is not enough memory or
  ///   libsodium does not allow the cost.
  public static func make(
    _ password: String, cost: Cost = .interactive
  ) throws(CryptographyError) -> String {
    precondition(isReady, "libsodium has no random numbers: its installation is broken")
    let characters = normalized(password)
    var text = [CChar](repeating: 0, count: crypto_pwhash_strbytes())
    let result = crypto_pwhash_str_alg(
      &text, characters, UInt64(characters.count), UInt64(cost.passes), cost.memory,
      crypto_pwhash_alg_argon2id13())
    guard result == 0 else {
      throw CryptographyError(
        .libraryFailure,
        "a password could not be hashed with \(cost.passes) passes over \(cost.memory) bytes")
    }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether `hash` is the hash of this password. The check takes as much time and memory as the
  /// creation of the hash. The result is `false` also if `hash` is not a hash, or if there is not
  /// enough memory.
  public static func isMatch(_ password: String, _ hash: String) -> Bool {
    precondition(isReady, "libsodium has no random numbers: its installation is broken")
    let characters = normalized(password)
    return crypto_pwhash_str_verify(hash, characters, UInt64(characters.count)) == 0
  }

  /// Returns the password in Unicode's composed form (NFC), because keyboards write the same
  /// accented letter in different ways.
  private static func normalized(_ password: String) -> [CChar] {
    password.precomposedStringWithCanonicalMapping.utf8.map { CChar(bitPattern: $0) }
  }
}
