import CSodium
import Foundation

/// Passwords as a store may keep them: hashed with Argon2id (RFC 9106), which needs much memory, so
/// that guessing is dear on any hardware.
///
/// Making and checking take tens of milliseconds and ``Cost/memory`` bytes, and block the thread.
///
/// ```swift
/// let hash = try PasswordHash.make("correct horse battery staple")
/// PasswordHash.isMatch("correct horse", hash)  // false
/// ```
public enum PasswordHash {
  /// What a hash costs who makes or checks it.
  public struct Cost: Sendable, Hashable {
    /// How often the memory is gone through.
    public var passes: Int
    /// Bytes.
    public var memory: Int

    public init(passes: Int, memory: Int) {
      self.passes = passes
      self.memory = memory
    }

    /// Two passes over 64 MiB, libsodium's choice for a sign-in that someone waits for.
    public static let interactive = Cost(passes: 2, memory: 64 << 20)
  }

  private static let isReady = sodium_init() >= 0

  /// The hash of a password with a salt of its own, as text that names the algorithm and the cost.
  ///
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

  /// Whether `hash` was made from this password. Costs as much as making the hash did, whatever the
  /// answer.
  public static func isMatch(_ password: String, _ hash: String) -> Bool {
    precondition(isReady, "libsodium has no random numbers: its installation is broken")
    let characters = normalized(password)
    return crypto_pwhash_str_verify(hash, characters, UInt64(characters.count)) == 0
  }

  /// Keyboards write the same accented letter in different ways.
  private static func normalized(_ password: String) -> [CChar] {
    password.precomposedStringWithCanonicalMapping.utf8.map { CChar(bitPattern: $0) }
  }
}
