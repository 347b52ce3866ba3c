import HTTPService
import Testing

@testable import AdminAPI

struct ConsoleCookieTests {
  @Test("it is found among others, with and without the prefix of TLS")
  func found() {
    #expect(ConsoleCookie.value(in: "a=\u{600}; petrel-console=x=y; b=c") == "x=y")
    #expect(ConsoleCookie.value(in: "a=b; __Host-petrel-console=x") == "x")
    #expect(ConsoleCookie.value(in: "petrel-console-2=x; Petrel-Console=y") == nil)
  }

  @Test(
    "what sets it over TLS has the prefix, and no page's script can read it",
    arguments: [true, false])
  func header(isSecure: Bool) {
    let (name, value) = ConsoleCookie.header(setting: "x", forSeconds: 60, isSecure: isSecure)
    #expect(name == "Set-Cookie")
    let pair = String(value.prefix { $0 != ";" })
    #expect(pair == (isSecure ? "__Host-" : "") + "petrel-console=x")
    #expect(ConsoleCookie.value(in: pair) == "x")
    #expect(value.contains("; HttpOnly; SameSite=Strict"))
    #expect(value.contains("; Max-Age=60;"))
    #expect(value.hasSuffix("; Secure") == isSecure)
  }
}
