import Foundation
import Testing

/// A browser as far as forms and cookies go.
final class SignInBrowser {
  let service: Service
  /// The cookies by their names.
  private(set) var cookies: [String: String] = [:]

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

  func forgetCookies() { cookies = [:] }

  private func send(
    _ method: String, _ url: String, at client: ServiceClient?, headers: String, body: String
  ) async throws -> Answer {
    let components = try #require(URLComponents(string: url))
    let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
    let pairs = ["other=1"] + self.cookies.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
    let cookies = "Cookie: \(pairs.joined(separator: "; "))\r\n"
    let answer = try await (client ?? service.client).send(
      method, components.percentEncodedPath + query, headers: headers + cookies,
      body: Data(body.utf8))
    if let set = answer.headers["set-cookie"], let pair = set.split(separator: ";").first {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      self.cookies[String(parts[0])] = set.contains("Max-Age=0") ? nil : String(parts[1])
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
