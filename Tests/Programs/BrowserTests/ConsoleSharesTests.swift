import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct ConsoleSharesTests {
  /// A name that would be an element if the page did not escape it.
  private static let hostile = "<img src=x onerror=document.title='bad'>"

  /// Saves a share of the zone Travel of Anna, with Ben and an address as participants.
  private func share(_ cloud: ConsoleCloud, with ben: User) async throws {
    func participant(_ identity: JSONValue) -> JSONValue {
      [
        "type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
        "userIdentity": identity,
      ]
    }
    try await cloud.admin(
      "records/modify",
      [
        "database": "private", "user": .string(cloud.anna.name),
        "operations": [
          [
            "operationType": "create",
            "record": [
              "recordName": "trip", "recordType": "Trip", "zoneID": ["zoneName": "Travel"],
              "fields": [:],
            ],
          ],
          [
            "operationType": "create",
            "record": [
              "recordName": .string(Self.hostile), "recordType": "cloudkit.share",
              "zoneID": ["zoneName": "Travel"], "fields": [:],
              "forRecord": ["recordName": "trip"],
              "participants": [
                participant(["userRecordName": .string(ben.userRecordName)]),
                participant(["lookupInfo": ["emailAddress": "eve@example.com"]]),
              ],
            ],
          ],
        ],
      ])
  }

  private func dialog(_ cloud: ConsoleCloud) async throws -> String {
    try await cloud.browser.run(
      "return [...document.querySelectorAll('dialog')].at(-1)?.innerText ?? '';"
    ).string ?? ""
  }

  private func dialog(_ cloud: ConsoleCloud, shows text: String) async throws {
    try await eventually("the dialog shows '\(text)'") {
      try await dialog(cloud).contains(text)
    }
  }

  @Test("a share loses a participant, gets a new link and ends when that is meant, and else stays")
  func changes() async throws {
    try await ConsoleCloud.run { cloud in
      let ben = try await cloud.store.accounts.addUser(named: "ben<i>", at: .now)
      try await share(cloud, with: ben)
      let database = try await cloud.store.databases.database(
        at: DatabaseAddress(
          container: ConsoleCloud.container, environment: .development, scope: .private,
          owner: cloud.anna.userRecordName))
      let shareID = RecordID(
        recordName: Self.hostile, zoneID: ZoneID(zoneName: "Travel"))
      func stored() async throws -> ShareContent? {
        try await cloud.store.shareAdministration.share(shareID, in: database)?.record.shareContent
      }
      try await cloud.signIn()
      try await cloud.open("shares", until: Self.hostile)
      try await cloud.shows("0 accepted, 2 invited")
      try await cloud.press(Self.hostile)
      try await dialog(cloud, shows: "eve@example.com")
      try await dialog(cloud, shows: "ben<i>")
      try await dialog(cloud, shows: "1 record")
      // Texts of users are texts.
      let elements = try await cloud.browser.run(
        "return document.querySelectorAll('main img, dialog img, main i, dialog i').length;")
      #expect(elements == 0)

      let link = try #require(try await stored()?.shortGUID)
      try await dialog(cloud, shows: link)
      try await cloud.press("New link…")
      try await dialog(cloud, shows: "Make a new link?")
      try await cloud.press("Cancel")
      try await cloud.press("New link…")
      #expect(try await stored()?.shortGUID == link)
      try await cloud.press("Make a new link")
      try await eventually("the share has another link") {
        try await stored()?.shortGUID != link
      }
      try await dialog(cloud, shows: try #require(try await stored()?.shortGUID))

      // The last row is that of one of the two invited participants.
      try await cloud.press("Remove…")
      try await dialog(cloud, shows: "does not see the shared records any more")
      try await cloud.press("Remove the participant")
      try await eventually("a participant is removed") {
        try await stored()?.participants?.count == 2
      }
      try await cloud.shows("0 accepted, 1 invited")

      try await cloud.press("End the share…")
      try await dialog(cloud, shows: "End this share?")
      try await cloud.press("End the share")
      try await cloud.shows("No shares")
      #expect(try await stored() == nil)
      let severe = try await cloud.browser.log().filter { $0.level == "SEVERE" }
      #expect(severe.isEmpty, "\(severe)")
    }
  }

  @Test("shares are filtered, and the readers of a record are shown")
  func readers() async throws {
    try await ConsoleCloud.run { cloud in
      let ben = try await cloud.store.accounts.addUser(named: "ben", at: .now)
      try await share(cloud, with: ben)
      try await cloud.signIn()
      try await cloud.open("shares", until: Self.hostile)
      try await cloud.fill("participant", with: "anna")
      try await cloud.press("Filter")
      try await cloud.shows("No match")
      try await cloud.fill("participant", with: "ben")
      try await cloud.press("Filter")
      try await cloud.shows(Self.hostile)

      for (name, value) in [("owner", "anna"), ("zone", "Travel"), ("recordName", "trip")] {
        try await cloud.fill("reader-\(name)", with: value)
      }
      try await cloud.press("Show")
      try await cloud.shows("By the share \(Self.hostile)")
      try await cloud.shows("OWNER")
      _ = try await cloud.browser.log()
      try await cloud.fill("reader-recordName", with: "nothing")
      try await cloud.press("Show")
      try await cloud.shows("there is no record 'nothing'")
      // The browser writes the status 404 to its console.
      _ = try await cloud.browser.log()
    }
  }
}
