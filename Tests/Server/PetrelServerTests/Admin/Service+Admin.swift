import Foundation
import JSONCoding

@testable import AdminAPI

extension Service {
  func addAdminKey(_ label: String = "tests") async throws -> String {
    try await AdminKeys.add(label: label, to: store.adminAccess, at: clock.read())
  }

  /// Reads from the admin API.
  func adminGet(_ path: String, key: String?, headers: String = "") async throws -> Answer {
    try await client.send("GET", "/admin/v1/" + path, headers: Self.bearer(key) + headers)
  }

  /// Posts to the admin API.
  func adminPost(
    _ path: String, _ body: JSONValue = [:], key: String?, headers: String = ""
  ) async throws -> Answer {
    try await client.send(
      "POST", "/admin/v1/" + path, headers: Self.bearer(key) + headers,
      body: Data(body.text.utf8))
  }

  private static func bearer(_ key: String?) -> String {
    key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
  }
}
