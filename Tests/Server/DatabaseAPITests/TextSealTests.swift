import CloudKitModel
import Testing

@testable import DatabaseAPI

struct TextSealTests {
  private let seal = TextSeal(key: Array(repeating: 7, count: 32))
  private let now = Timestamp(milliseconds: 1_000_000)

  private var sealed: String {
    seal.seal(
      ["name": "Zoë"], for: "test", holder: "browser", until: now.advanced(bySeconds: 10))
  }

  @Test("a sealed text opens for its purpose and its holder, until its time is over")
  func opens() {
    func open(_ purpose: String, _ holder: String, after seconds: Double = 0) -> String? {
      seal.open(sealed, for: purpose, holder: holder, at: now.advanced(bySeconds: seconds))?[
        "name"]?.string
    }
    #expect(open("test", "browser") == "Zoë")
    #expect(open("test", "browser", after: 9.999) == "Zoë")
    #expect(open("test", "browser", after: 10) == nil)
    #expect(open("other", "browser") == nil)
    #expect(open("test", "another") == nil)
    #expect(open("testbrowser", "") == nil)
    #expect(open("", "testbrowser") == nil)
  }

  @Test("a text with any character changed, cut off or added does not open")
  func tampering() {
    let text = Array(sealed)
    for index in text.indices {
      var changed = text
      changed[index] = text[index] == "A" ? "B" : "A"
      #expect(
        seal.open(String(changed), for: "test", holder: "browser", at: now) == nil, "\(index)")
      #expect(
        seal.open(String(text[..<index]), for: "test", holder: "browser", at: now) == nil)
    }
    #expect(seal.open(sealed + "A", for: "test", holder: "browser", at: now) == nil)
    #expect(seal.open(sealed + ".", for: "test", holder: "browser", at: now) == nil)
  }

  @Test("another key opens nothing")
  func otherKey() {
    let other = TextSeal(key: Array(repeating: 8, count: 32))
    #expect(other.open(sealed, for: "test", holder: "browser", at: now) == nil)
  }
}
