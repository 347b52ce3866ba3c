import Cryptography
import Testing

struct PasswordHashTests {
  private static let cheap = PasswordHash.Cost(passes: 1, memory: 8192)

  @Test("a hash knows its password and no other")
  func matches() throws {
    let hash = try PasswordHash.make("correct horse", cost: Self.cheap)
    #expect(PasswordHash.isMatch("correct horse", hash))
    for other in ["correct hors", "correct horse ", "Correct horse", ""] {
      #expect(!PasswordHash.isMatch(other, hash), "\(other)")
    }
  }

  @Test("two hashes of a password differ, and each names Argon2id and its cost")
  func salted() throws {
    let hashes = try [1, 2].map { _ in try PasswordHash.make("same", cost: Self.cheap) }
    #expect(hashes[0] != hashes[1])
    #expect(hashes.allSatisfy { $0.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$") }, "\(hashes)")
    #expect(try PasswordHash.make("same").hasPrefix("$argon2id$v=19$m=65536,t=2,p=1$"))
  }

  @Test("an accented letter is the same however the keyboard composes it")
  func composed() throws {
    let hash = try PasswordHash.make("caf\u{E9}", cost: Self.cheap)
    #expect(PasswordHash.isMatch("cafe\u{301}", hash))
  }

  @Test("what is no hash matches nothing", arguments: ["", "x", "$argon2id$", "$2b$10$abc"])
  func damaged(_ hash: String) {
    #expect(!PasswordHash.isMatch("correct horse", hash))
  }
}
