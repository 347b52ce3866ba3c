import HTTPService
import Testing

struct CookieTests {
  private func cookies(_ field: String?) -> [String] {
    HTTPRequest.cookies(in: field).map { "\($0.name): \($0.value)" }
  }

  @Test("the cookies of a request are read in order, and their values may have equals signs")
  func pairs() {
    #expect(cookies("a=1; b=x=y; a=2") == ["a: 1", "b: x=y", "a: 2"])
    #expect(cookies("a=1;b=2") == ["a: 1", "b: 2"])
  }

  @Test("what is no pair is left out")
  func noPairs() {
    #expect(cookies("a; =; ; b=2") == ["b: 2"])
    #expect(cookies("").isEmpty)
    #expect(cookies(nil).isEmpty)
  }

  @Test(
    "a cookie is found whatever the one before it ends with",
    arguments: ["a=\u{600}", "\u{600}", "a=b\u{1F468}\u{200D}", "a=b=c", "=", ""])
  func endings(other: String) {
    #expect(cookies("\(other); b=c").last == "b: c")
    #expect(cookies("\(other); b=x=y z; d=e").suffix(2) == ["b: x=y", "d: e"])
  }
}
