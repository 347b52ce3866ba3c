import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct TokenCipherTests {
  private static let cipher = TokenCipher(secret: Array(repeating: 1, count: 32))
  private static let other = TokenCipher(secret: Array(repeating: 2, count: 32))

  private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...100, using: &random)).map { _ in
      // Often what contents are filled up with.
      random.pick([0, 0x80, UInt8.random(in: 0...255, using: &random)])
    }
  }

  @Test("opens as what it was sealed as, in the same store alone", arguments: Seeds.some(20))
  func opening(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let contents = Self.bytes(&random)
      let kind = random.pick(TokenCipher.Kind.allCases)
      let sealed = try Self.cipher.seal(contents, as: kind)
      #expect(try Self.cipher.seal(contents, as: kind) == sealed)
      for other in TokenCipher.Kind.allCases {
        #expect(Self.cipher.open(sealed, as: other) == (other == kind ? contents : nil))
      }
      #expect(Self.other.open(sealed, as: kind) == nil)
    }
  }

  @Test("does not open when anything of it was changed", arguments: Seeds.some(20))
  func changes(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let sealed = try Self.cipher.seal(Self.bytes(&random), as: .changes)
    for index in sealed.indices {
      var changed = Array(sealed)
      let place = sealed.distance(from: sealed.startIndex, to: index)
      changed[place] = changed[place] == "A" ? "B" : "A"
      #expect(Self.cipher.open(String(changed), as: .changes) == nil)
    }
    for count in 0..<sealed.count {
      #expect(Self.cipher.open(sealed.prefix(count), as: .changes) == nil)
    }
  }

  @Test("has the same length and nothing in common, however large its numbers are")
  func magnitudes() throws {
    var texts: [String] = []
    for position in [0, 1, 127, 128, 70_000, 1 << 40] as [Int64] {
      var token = ChangeToken(
        beginningOf: .zone(3), in: DatabaseID(rawValue: 5), at: position)
      token.position = position
      let text = try token.text(sealedBy: Self.cipher)
      #expect(try ChangeToken(text, sealedBy: Self.cipher) == token)
      texts.append(text)
    }
    #expect(Set(texts.map(\.count)).count == 1)
    #expect(Set(texts.map { $0.prefix(8) }).count == texts.count)
    #expect(Set(texts.map { $0.suffix(8) }).count == texts.count)
  }

  @Test("names of databases tell nothing of their numbers, and are read back")
  func names() throws {
    let databases = [1, 2, 3, 1_000_000].map { DatabaseID(rawValue: $0) }
    let names = try databases.map { try Self.cipher.name(of: $0) }
    #expect(names.map { Self.cipher.database(named: $0) } == databases)
    #expect(Set(names.map(\.count)).count == 1)
    for name in ["", "1", "x", names[0] + "A"] {
      #expect(Self.cipher.database(named: name) == nil, "\(name)")
    }
    #expect(Self.other.database(named: names[0]) == nil)
  }

  @Test("no two versions of a record have one change tag, and their order does not show")
  func tags() throws {
    let tags = try Self.cipher.makeChangeTags()
    let database = DatabaseID(rawValue: 7)
    let made = (1...2_000).map { tags.tag(ofVersion: $0, in: database) }
    #expect(Set(made).count == made.count)
    #expect(made.allSatisfy { $0.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLowercase) } })
    let numbers = made.map { UInt64($0, radix: 36) ?? 0 }
    let rising = zip(numbers, numbers.dropFirst()).count { $0 < $1 }
    #expect((900...1_100).contains(rising))
    let elsewhere = tags.tag(ofVersion: 1, in: DatabaseID(rawValue: 8))
    let inOtherStore = try Self.other.makeChangeTags().tag(ofVersion: 1, in: database)
    #expect(Set([made[0], elsewhere, inOtherStore]).count == 3)
    #expect(try Self.cipher.makeChangeTags().tag(ofVersion: 1, in: database) == made[0])
  }
}
