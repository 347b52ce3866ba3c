import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import DatabaseAPI

/// Walks the tables of docs/reference/access-table.md for what is no operation of the protocol.
struct PageTableTests {
  typealias Found = [AccessTable.Cell: Set<String>]

  /// Whether somebody was let in, whatever came of the request then.
  private func admission(_ answer: Answer) -> String {
    [401, 403, 404, 421].contains(answer.status) ? answer.accessOutcome : "200"
  }

  // MARK: The admin API

  @Test("every path of the admin API asks for a key that is good, and for the proof of a browser")
  func admin() async throws {
    let table = try AccessTable("The admin API and the console")
    try await AccessWorld.with { world in
      let service = world.service
      let revoked = try await service.addAdminKey("gone")
      let revokedCookie = try await service.beginConsoleSession(revoked)
      _ = try await Registration.revoke(
        revoked, of: service.store.credentials, and: service.store.adminAccess, at: .now)
      let session = try await service.adminGet("session", key: nil, headers: world.consoleCookie)
      let proof = try #require(session.json["proof"]?.string)
      let shown: [String: () throws -> (query: String, headers: String)] = [
        "nothing": { ("", "") },
        "web auth token": { ("?ckWebAuthToken=\(Service.escaped(service.alice.token))", "") },
        "API token": { ("?ckAPIToken=\(world.apiToken)", "") },
        "admin key": { ("", "Authorization: Bearer \(world.adminKey)\r\n") },
        "revoked admin key": { ("", "Authorization: Bearer \(revoked)\r\n") },
        "admin key in the query": { ("?key=\(world.adminKey)", "") },
        "console's cookie": { ("", world.consoleCookie) },
        "cookie and proof": { ("", world.consoleCookie + "X-Petrel-CSRF: \(proof)\r\n") },
        "cookie of a revoked key": { ("", revokedCookie + "X-Petrel-CSRF: \(proof)\r\n") },
      ]
      let description = try await service.adminGet("openapi.json", key: world.adminKey)
      let paths = try #require(description.json["paths"]?.object)
      #expect(paths.count > 40)
      var found: Found = [:]
      // First, for wrong keys have to wait after some.
      for (column, show) in shown {
        let (query, headers) = try show()
        let page = try await service.client.send("GET", "/console/\(query)", headers: headers)
        found[.init(row: column, column: "the console")] = [
          page.headers["location"] == "/console/sign-in" ? "the sign-in page" : "\(page.status)"
        ]
      }
      for (path, methods) in paths {
        // A stream has no end, and signing out would end the session that the others show.
        guard !path.hasSuffix("/events"), !path.hasSuffix("session/sign-out") else { continue }
        for method in try #require(methods.object).keys where ["get", "post"].contains(method) {
          for (column, show) in shown {
            let (query, headers) = try show()
            let answer = try await service.client.send(
              method.uppercased(), (path.hasPrefix("/admin") ? "" : "/admin/v1") + path + query,
              headers: headers, body: Data((method == "post" ? "{}" : "").utf8))
            let isLate = column == "revoked admin key" && answer.status == 429
            found[.init(row: column, column: "every \(method.uppercased())"), default: []].insert(
              isLate ? "401 AUTHENTICATION_FAILED" : admission(answer))
          }
        }
      }
      table.check(found)
    }
  }

  // MARK: Pages for those who watch

  @Test("figures are for this machine and for who has the token; whether it is well is for all")
  func watching() async throws {
    let table = try AccessTable("Pages for those who watch")
    var settings = ServiceSettings()
    settings.metrics.token = "0123456789abcdef0123456789abcdef"
    settings.admin.isEnabled = true
    try await withService(settings) { service in
      let adminKey = try await service.addAdminKey()
      let elsewhere = "X-Forwarded-For: 192.0.2.1\r\n"
      let shown = [
        "nothing, from this machine": "", "nothing, from elsewhere": elsewhere,
        "token, from elsewhere": elsewhere
          + "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n",
        "token, altered": elsewhere
          + "Authorization: Bearer 1123456789abcdef0123456789abcdef\r\n",
        "admin key, from elsewhere": elsewhere + "Authorization: Bearer \(adminKey)\r\n",
      ]
      var found: Found = [:]
      for (row, headers) in shown {
        for page in ["/metrics", "/health/live", "/health/ready"] {
          let answer = try await service.client.send("GET", page, headers: headers)
          found[.init(row: row, column: page)] = ["\(answer.status)"]
        }
      }
      table.check(found)
    }
  }

  // MARK: Assets

  @Test("the URL of an asset is good as it was made, for its time")
  func assets() async throws {
    let table = try AccessTable("URLs of assets")
    try await withService { service in
      let asked = try await service.askForUpload(record: "a", field: "file", in: "private")
      let uploadPath = try #require(asked.uploadURLs.first)
      let late = try await service.askForUpload(record: "b", field: "file", in: "private")
      let lateUpload = try #require(late.uploadURLs.first)
      var found: Found = [:]
      func upload(_ row: String, _ path: String) async throws -> Answer {
        let answer = try await service.client.send("POST", path, body: Data("secret".utf8))
        found[.init(row: row, column: "upload")] = [answer.accessOutcome]
        return answer
      }
      let parts = uploadPath.split(separator: "/").map(String.init)
      let tokens = service.store.secrets.tokens
      let database = try #require(tokens.database(named: parts[1]))
      let next = try tokens.name(of: DatabaseID(rawValue: database.rawValue + 1))
      let other = "/assets/\(next)/upload/\(parts[3])"
      _ = try await upload("altered", Self.altered(uploadPath))
      _ = try await upload("for another database", other)
      let file = try await upload("as it was made", uploadPath)
      let saved = try await service.modify(
        Service.operation(
          "create", "a", #""file": {"value": \#(file.json["singleFile"]?.text ?? "")}"#),
        in: "private")
      let downloadPath = try service.path(saved[0].field("file")?["downloadURL"])
      func download(_ row: String, _ path: String) async throws {
        let answer = try await service.client.send("GET", path)
        found[.init(row: row, column: "download")] = [answer.accessOutcome]
      }
      try await download("as it was made", downloadPath)
      try await download("altered", Self.altered(downloadPath))
      try await download("for another database", downloadPath.replacing(parts[1], with: next))
      try await download(
        "with a later end",
        downloadPath.replacing(/expires=(\d)/) { "expires=\((Int($0.1) ?? 0) + 1)" }
      )
      try await download("without its signature", downloadPath.replacing(/&signature=.*/, with: ""))
      service.clock.advance(bySeconds: AssetLinks.lifetime + 1)
      try await download("after its time", downloadPath)
      _ = try await upload("after its time", lateUpload)
      found[.init(row: "with a later end", column: "upload")] = ["–"]
      found[.init(row: "without its signature", column: "upload")] = ["–"]
      table.check(found)
    }
  }

  private static func altered(_ path: String) -> String {
    let place = path.index(path.endIndex, offsetBy: -9)
    return path[..<place] + (path[place] == "A" ? "B" : "A") + path[path.index(after: place)...]
  }
}
