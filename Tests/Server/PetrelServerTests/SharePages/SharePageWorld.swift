import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import Testing

@testable import Configuration
@testable import DatabaseAPI

/// A server on which Alice shares a list, and the users who open its link.
struct SharePageWorld {
  static let password = "correct horse"

  let service: Service

  /// Runs `body` with users who have passwords.
  ///
  /// - Parameter appURL: the app of the container.
  static func run(
    _ appURL: String? = nil, _ settings: ServiceSettings = ServiceSettings(),
    _ body: (SharePageWorld) async throws -> Void
  ) async throws {
    var settings = settings
    if let appURL {
      var container = ServerConfiguration.Container()
      container.shares.appLink = AppLink(appURL)
      try #require(container.shares.appLink != nil)
      settings.containers = [Service.container: container]
    }
    try await withService(settings) { service in
      let hash = try PasswordHash.make(
        password, cost: PasswordHash.Cost(passes: 1, memory: 8192))
      for name in ["alice", "bob"] {
        try await service.store.accounts.setPasswordHash(hash, ofUserNamed: name, at: .now)
      }
      try await service.makeZone("Notes")
      try await body(SharePageWorld(service: service))
    }
  }

  /// Saves the list with a share. Returns its short GUID.
  ///
  /// - Parameter members: the members of the share besides its root, such as `publicPermission`.
  func share(_ members: String, title: String = "Our list", fields: String = "") async throws
    -> String
  {
    let saved = try await service.modify(
      Service.operation("forceUpdate", "root", #""title": {"value": "Milk"}"#, zone: "Notes"),
      """
      {"operationType": "forceUpdate", "record": {"recordName": "s",
        "recordType": "cloudkit.share", "zoneID": {"zoneName": "Notes"},
        "forRecord": {"recordName": "root"}, \(members),
        "fields": {"cloudkit.title": {"value": \(JSONValue.string(title).text)}\(fields)}}}
      """, in: "private")
    try #require(saved.outcomes == ["ok", "ok"], "\(saved.json)")
    return try #require(saved[1]["shortGUID"]?.string)
  }

  /// The members of a share that invites Bob.
  func inviting(_ permission: String = "READ_WRITE") -> String {
    """
    "participants": [{"type": "USER", "permission": "\(permission)",
      "acceptanceStatus": "INVITED", "userIdentity": {"userRecordName": "\(service.bob.recordName)"}}]
    """
  }

  func endShare() async throws {
    _ = try await service.modify(
      Service.operation("forceDelete", "s", zone: "Notes", type: nil), in: "private")
  }

  /// The link's path.
  func path(_ guid: String) -> String { "/share/\(guid)" }

  /// Opens a link and signs in. Returns the page that the browser shows then.
  @discardableResult
  func signIn(_ name: String, at guid: String, _ browser: SignInBrowser) async throws -> Answer {
    let begun = try await browser.get(path(guid) + "?sign-in=yes")
    try #require(begun.status == 303, "\(begun.status) \(begun.text)")
    let form = try await browser.get(try #require(begun.headers["location"]))
    let done = try await browser.post(
      "/sign-in", form.formFields + [("name", name), ("password", Self.password)])
    try #require(done.status == 303, "\(done.status) \(done.text)")
    return try await browser.get(try #require(done.headers["location"]))
  }

  /// A browser in which a user has signed in.
  func browser(of name: String, at guid: String) async throws -> SignInBrowser {
    let browser = SignInBrowser(service)
    try await signIn(name, at: guid, browser)
    return browser
  }

  /// Presses a button of a page.
  func press(
    _ answer: String, on page: Answer, of guid: String, _ browser: SignInBrowser,
    headers: String = ""
  ) async throws -> Answer {
    try await browser.post(
      path(guid), [("proof", page.shareProof), ("answer", answer)], headers: headers)
  }

  /// The outcome of Bob's lookup of the shared list.
  func bobsLookup() async throws -> String {
    let zone = #"{"zoneName": "Notes", "ownerRecordName": "\#(service.alice.recordName)"}"#
    let found = try await service.post(
      "shared/records/lookup", #"{"records": [{"recordName": "root"}], "zoneID": \#(zone)}"#,
      as: service.bob)
    return found[0].outcome
  }

  /// The participants of the share as Alice sees them: type and status.
  func participants() async throws -> [String] {
    let found = try await service.lookup("s", in: "private", zone: "Notes")
    return found[0]["participants"]?.array?.map {
      "\($0["type"]?.string ?? "") \($0["acceptanceStatus"]?.string ?? "")"
    } ?? []
  }
}

extension Answer {
  /// The proof in the first form of a page.
  var shareProof: String { attribute("value", after: "name=\"proof\"") ?? "" }

  /// The text of the page with the proofs blanked.
  var withoutProofs: String {
    text.replacing(/name="proof" value="[^"]*"/) { _ in "name=\"proof\"" }
  }
}
