import Foundation
import Testing

/// A browser as far as forms and one cookie go.
final class SignInBrowser {
  let service: Service
  private(set) var cookie: String?

  init(_ service: Service) {
    self.service = service
  }

  /// - Parameter client: a server's; the service's own without one.
  func get(_ url: String, at client: ServiceClient? = nil) async throws -> Answer {
    try await send("GET", url, at: client, headers: "", body: "")
  }

  /// Sends a form.
  func post(
    _ url: String, _ fields: [(String, String)], at client: ServiceClient? = nil,
    headers: String = ""
  ) async throws -> Answer {
    let body = fields.map { "\($0)=\(Service.escaped($1))" }.joined(separator: "&")
    return try await send(
      "POST", url, at: client,
      headers: headers + "Content-Type: application/x-www-form-urlencoded\r\n", body: body)
  }

  func forgetCookie() { cookie = nil }

  private func send(
    _ method: String, _ url: String, at client: ServiceClient?, headers: String, body: String
  ) async throws -> Answer {
    let components = try #require(URLComponents(string: url))
    let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
    let cookies = cookie.map { "Cookie: other=1; \($0)\r\n" } ?? ""
    let answer = try await (client ?? service.client).send(
      method, components.percentEncodedPath + query, headers: headers + cookies,
      body: Data(body.utf8))
    if let set = answer.headers["set-cookie"]?.split(separator: ";").first {
      cookie = String(set)
    }
    return answer
  }
}

extension Answer {
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The value of the first attribute after a text of the page.
  func attribute(_ name: String, after mark: String = "") -> String? {
    let rest = mark.isEmpty ? text[...] : text.range(of: mark).map { text[$0.upperBound...] }
    guard let rest, let start = rest.range(of: "\(name)=\"")?.upperBound,
      let end = rest[start...].firstIndex(of: "\"")
    else { return nil }
    return String(rest[start..<end])
  }

  /// The hidden fields of the page's form.
  var formFields: [(String, String)] {
    ["state", "proof"].map { ($0, attribute("value", after: "name=\"\($0)\"") ?? "") }
  }
}

extension Service {
  /// Returns the URL of the sign-in page that the server gives an app at an origin.
  func signInURL(origin: String? = "https://app.example.com") async throws -> String {
    let answer = try await client.send(
      "GET", target("private/users/caller", as: nil),
      headers: origin.map { "Origin: \($0)\r\n" } ?? "")
    #expect(answer.failure == "421 AUTHENTICATION_REQUIRED")
    return try #require(answer.json["redirectURL"]?.string)
  }
}
