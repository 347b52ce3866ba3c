import CSodium
import Foundation

/// The hashes of passwords that a store keeps: Argon2id (RFC 9106). It needs much memory, which
/// makes guessing expensive on any hardware.
///
/// Both functions take tens of milliseconds and ``Cost/memory`` bytes, and block the thread.
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

    /// Two passes over 64 MiB, libsodium's choice for interactive sign-in.
    public static let interactive = Cost(passes: 2, memory: 64 << 20)
  }

  /// Whether libsodium's set-up succeeded. It runs once in the process.
  private static let isReady = sodium_init() >= 0

  /// Hashes a password with a random salt.
  ///
  /// - Returns: a text with the algorithm, the cost, the salt and the hash.
  /// - Throws: ``CryptographyError/Code/libraryFailure`` when there is not enough memory.
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

  /// Whether `hash` is the hash of this password. The check costs as much as the creation of the
  /// hash. `false` also for a text that is not a hash.
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
