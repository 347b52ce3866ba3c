import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import Configuration
@testable import DatabaseAPI

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct SharePageInBrowserTests {
  /// A picture of one pixel.
  private static let png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

  /// Saves a list of Ben's that is shared with Anna. Returns the URL of the share.
  private func share(_ cloud: BrowserCloud, by ben: User, with anna: User) async throws -> String {
    let zone: JSONValue = ["zoneName": "Notes"]
    _ = try await cloud.post(
      "private/zones/modify",
      ["operations": [["operationType": "create", "zone": ["zoneID": zone]]]], as: ben)
    let invited: JSONValue = [
      "type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
      "userIdentity": ["userRecordName": .string(anna.userRecordName)],
    ]
    let saved = try await cloud.post(
      "private/records/modify",
      [
        "zoneID": zone,
        "operations": [
          [
            "operationType": "create",
            "record": [
              "recordName": "list", "recordType": "List", "fields": ["title": ["value": "Milk"]],
            ],
          ],
          [
            "operationType": "create",
            "record": [
              "recordName": "share", "recordType": "cloudkit.share",
              "forRecord": ["recordName": "list"], "participants": [invited],
              "fields": [
                "cloudkit.title": ["value": "<script>document.title = 'stolen'</script>Shopping"],
                "cloudkit.thumbnailImageData": ["value": .string(Self.png), "type": "BYTES"],
              ],
            ],
          ],
        ],
      ], as: ben)
    return try #require(saved["records"]?.array?.last?["webpageURL"]?.string, "\(saved.text)")
  }

  @Test("a user opens the link, signs in, accepts, comes to the app, and reads the shared record")
  func wholeWay() async throws {
    func configure(_ configuration: inout ServerConfiguration, _ app: AppPage) {
      var container = ServerConfiguration.Container()
      container.shares.appLink = AppLink("\(app.origin)/?share={guid}")
      configuration.containers = [BrowserCloud.container: container]
    }
    try await BrowserCloud.run(configure: configure) { cloud in
      let anna = try #require(try await cloud.store.accounts.user(named: "anna"))
      let ben = try await cloud.store.accounts.addUser(named: "ben", at: .now)
      let url = try await share(cloud, by: ben, with: anna)
      let browser = cloud.browser
      try await browser.go(to: url)
      #expect(try await browser.text(of: "main").contains("Something was shared with you"))
      try await browser.click("a.first")
      try await cloud.typePassword()

      try await eventually("the share is shown") {
        try await browser.text(of: "h1").contains("</script>Shopping")
      }
      #expect(try await browser.text(of: "main").contains("You may read and change it."))
      let page = try await browser.run(
        """
        const image = document.querySelector('img');
        return { title: document.title, scripts: document.scripts.length,
          picture: image.complete && image.naturalWidth, path: location.pathname,
          cookie: document.cookie,
          button: getComputedStyle(document.querySelector('button.first')).color };
        """)
      #expect(page["title"] == "Shared with you" && page["scripts"] == 0)
      #expect(page["picture"] == 1 && page["cookie"] == "")
      // The policy lets the page's own style in.
      #expect(page["button"] == "rgb(255, 255, 255)")
      try await browser.click("button[value=accept]")
      let guid = try #require(url.split(separator: "/").last?.split(separator: "#").first)
      try await eventually("the app opens") {
        try await browser.url == "\(cloud.app.origin)/?share=\(guid)"
      }
      #expect(try await browser.run("return document.referrer;") == "")
      let errors = try await browser.log().filter {
        $0.text.contains("Content Security Policy") || $0.text.contains("Refused")
      }
      #expect(errors.isEmpty, "\(errors)")

      let token = try await Account.makeToken(for: anna, in: cloud.store.accounts, at: .now)
      let settings: JSONValue = [
        "server": .string(cloud.server.url), "container": .string(BrowserCloud.container),
        "webAuthToken": .string(token), "clientId": "browser",
      ]
      _ = try await browser.run("app.configure(arguments[0]);", settings)
      let zoneID: JSONValue = [
        "zoneName": "Notes", "ownerRecordName": .string(ben.userRecordName),
      ]
      let found = try await cloud.call(
        "shared/records/lookup", ["records": [["recordName": "list"]], "zoneID": zoneID])
      let record = found["json"]?["records"]?.array?.first
      #expect(record?["fields"]?["title"]?["value"] == "Milk", "\(found.text)")

      // A link of another site leads back to the page, where the session goes on.
      _ = try await browser.run("location.href = arguments[0];", .string(url))
      try await eventually("the page is there") { try await browser.url == url }
      #expect(try await browser.text(of: "main").contains("You have accepted this share."))
      try await browser.click("button[value=sign-out]")
      try await eventually("the user is signed out") {
        try await browser.text(of: "h1") == "Something was shared with you"
      }
    }
  }
}
