import CloudKitModel
import StoreModel
import Testing

@testable import DatabaseAPI

struct SignInRequestTests {
  private func token(
    _ callback: APIToken.SignInCallback = .postMessage, origins: Set<String> = []
  ) -> APIToken {
    APIToken(
      hash: [1], name: "web", container: "iCloud.a", environment: .development,
      signInCallback: callback, allowedOrigins: origins, created: Timestamp(milliseconds: 0))
  }

  @Test("a message goes to the page that asked, where the token allows its origin")
  func messages() {
    typealias Callback = SignInRequest.Callback
    let a = "https://a.example.com"
    let b = "http://localhost:8000"
    #expect(Callback(nil, origin: a) == .message(origins: [a]))
    #expect(Callback(token(), origin: b) == .message(origins: [b]))
    #expect(Callback(token(origins: [a, b]), origin: b) == .message(origins: [b]))
    #expect(Callback(token(origins: [a, b]), origin: nil) == .message(origins: [b, a]))
    #expect(
      Callback(token(origins: [a]), origin: "https://c.example.com") == .message(origins: [a]))
    #expect(Callback(nil, origin: nil) == .message(origins: []))
  }

  @Test(
    "what is no origin is not taken for one", arguments: ["null", "*", "a b", "https://a/b", ""])
  func noOrigins(_ origin: String) {
    #expect(SignInRequest.Callback(nil, origin: origin) == .message(origins: []))
  }

  @Test("a redirect goes to the token's URL, whoever asks")
  func redirects() {
    let url = "https://a.example.com/callback"
    #expect(
      SignInRequest.Callback(token(.redirect(url: url)), origin: "https://b") == .redirect(url: url)
    )
  }

  @Test("the token is put into the query of the callback's URL, escaped")
  func callbackURLs() {
    func url(_ text: String) -> String { SignInRequest.callbackURL(text, token: "a+b/c=") }
    let item = "ckWebAuthToken=a%2Bb%2Fc%3D"
    #expect(url("https://a/b") == "https://a/b?" + item)
    #expect(url("https://a/b?c=d") == "https://a/b?c=d&" + item)
    #expect(url("https://a/b?") == "https://a/b?" + item)
    #expect(url("https://a/b?c#d") == "https://a/b?c&\(item)#d")
    #expect(url("app://done") == "app://done?" + item)
  }

  @Test("the origin of a URL has neither path nor user; an app's own scheme stands alone")
  func origins() {
    #expect(SignInRequest.origin(of: "https://A.example.com/b?c") == "https://a.example.com")
    #expect(SignInRequest.origin(of: "http://user@localhost:80/") == "http://localhost")
    #expect(SignInRequest.origin(of: "http://[::1]:8080/") == "http://[::1]:8080")
    #expect(SignInRequest.origin(of: "my-app://done") == "my-app:")
    #expect(SignInRequest.origin(of: "/relative") == nil)
    // They would be more than an origin in a header field.
    for host in [
      "a%0d%0aX-Evil:%201", "a;script-src", "a%3B%20script-src%20*", "a%20b", "a,b", "[::1%0a]",
    ] {
      #expect(SignInRequest.origin(of: "https://\(host)/") == nil, "\(host)")
    }
  }

  @Test(
    "a request comes back from its members as it was",
    arguments: [
      SignInRequest.Callback.message(origins: []), .message(origins: ["https://a", "https://b"]),
      .redirect(url: "https://a/b?c=d"), .sharePage(shortGUID: "abc"),
    ])
  func roundTrip(_ callback: SignInRequest.Callback) {
    let request = SignInRequest(
      container: "iCloud.a", environment: .production, callback: callback)
    #expect(SignInRequest(request.members) == request)
  }
}
