import Foundation
import HTTPService
import Testing

struct RequestTargetTests {
  private func request(_ target: String) -> HTTPRequest {
    HTTPRequest(method: "GET", target: target)
  }

  @Test("the path is decoded and the raw path kept")
  func paths() {
    let request = request("/a%20b/%C3%A9%2Fc+d?x=1")
    #expect(request.path == "/a b/é/c+d")
    #expect(request.rawPath == "/a%20b/%C3%A9%2Fc+d")
    #expect(request.rawQuery == "x=1")
  }

  @Test("broken escapes stay as they are")
  func brokenEscapes() {
    #expect(request("/100%").path == "/100%")
    #expect(request("/%4").path == "/%4")
    #expect(request("/%zz%41").path == "/%zzA")
    #expect(request("/%+1").path == "/%+1")
  }

  @Test("parameters keep their order, and the first of a name is found")
  func parameters() {
    let request = request("/p?a=1&b=x+y%26z&a=2&flag&=v&c=d=e")
    #expect(request.query.map(\.name) == ["a", "b", "a", "flag", "", "c"])
    #expect(request.query("a") == "1")
    #expect(request.query("b") == "x y&z")
    #expect(request.query("flag") == "")
    #expect(request.query("c") == "d=e")
    #expect(request.query("nothing") == nil)
  }

  @Test("an absolute target loses its scheme and authority")
  func absoluteForm() {
    #expect(request("http://host:80/a?b=c").path == "/a")
    #expect(request("http://host:80/a?b=c").query("b") == "c")
    #expect(request("http://host").path == "/")
    #expect(request("http://host?q").rawQuery == "q")
    #expect(request("/a?u=http://other/b").path == "/a")
    #expect(request("*").path == "*")
  }

  @Test("header names are found in any case")
  func headers() {
    let request = HTTPRequest(
      method: "GET", target: "/", headers: [("X-One", "1"), ("x-one", "2"), ("Other", "3")])
    #expect(request.header("x-ONE") == "1")
    #expect(request.header("other") == "3")
    #expect(request.header("X-On") == nil)
  }
}
