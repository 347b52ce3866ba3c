import CloudKitModel
import Foundation
import JSONCoding
import PythonPrograms
import StoreModel
import Testing
import Waiting

@testable import DatabaseAPI

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct ConsoleTests {
  /// Pages and something that each shows when it is there.
  static let pages = [
    ("overview", "Commit to notification"), ("pushes", "storm"), ("records", "milk"),
    ("zones", "_defaultZone"), ("schema", "Production does not have this yet"),
    ("subscriptions", "many"), ("shares", "No shares"), ("users", "anna"),
    ("devices", "No devices"), ("keys", "tests"),
    ("explain", "What happened?"),
    ("explain?container=\(ConsoleCloud.container)&recordName=storm", "Committed"),
    (
      "explain?container=\(ConsoleCloud.container)&subscriber=anna&subscriptionID=many",
      "Checked without a match"
    ), ("dry-run?try=record", "Try the record"),
    ("dry-run?try=subscription", "Try the subscription"),
  ]

  private func expectNoErrors(_ cloud: ConsoleCloud) async throws {
    let entries = try await cloud.browser.log().filter { $0.level == "SEVERE" }
    #expect(entries.isEmpty, "\(entries)")
  }

  @Test("who shows a key is in, who shows a wrong one is told, and who signs out is out")
  func session() async throws {
    try await ConsoleCloud.run { cloud in
      let browser = cloud.browser
      try await browser.go(to: cloud.server.url + "/console")
      #expect(try await browser.url.hasSuffix("/console/sign-in"))
      try await browser.type("nonsense", into: "input[name=key]")
      try await browser.click("button.first")
      try await eventually("the page tells") {
        try await browser.text(of: "#problem").contains("admin key is unknown")
      }
      // The browser writes the status 403 to its console.
      _ = try await browser.log()
      try await cloud.signIn()
      let cookie = try await browser.run("return document.cookie;")
      #expect(cookie == "", "a script must not see the cookie")
      try await browser.click("#sign-out")
      try await eventually("the sign-in page is back") {
        try await browser.url.hasSuffix("/console/sign-in")
      }
      try await browser.go(to: cloud.server.url + "/console/")
      #expect(try await browser.url.hasSuffix("/console/sign-in"))
      try await expectNoErrors(cloud)
    }
  }

  @Test("a user is deleted when that is meant, with a choice for public records, and else stays")
  func userDeletion() async throws {
    try await ConsoleCloud.run { cloud in
      func dialog() async throws -> String {
        try await cloud.browser.run(
          "return [...document.querySelectorAll('dialog')].at(-1)?.innerText ?? '';"
        ).string ?? ""
      }
      try await cloud.signIn()
      try await cloud.open("users", until: "anna")
      try await cloud.press("anna")
      try await eventually("the console shows how to export") {
        try await dialog().contains("petrel users export \(cloud.anna.userRecordName) --to")
      }
      try await cloud.press("Delete…")
      try await eventually("it is asked for") { try await dialog().contains("Delete anna?") }
      // Without a choice the form is not sent.
      try await cloud.press("Delete anna")
      #expect(try await dialog().contains("Delete anna?"))
      try await cloud.press("Cancel")
      try await eventually("the account is shown still") {
        try await dialog().contains("User record")
      }
      #expect(try await cloud.store.accounts.user(named: "anna")?.isBeingDeleted == false)
      try await cloud.press("Delete…")
      try await cloud.browser.click("input[value=keep]")
      try await cloud.press("Delete anna")
      try await eventually("the user is deleted") {
        try await cloud.store.accounts.user(named: "anna") == nil
      }
      try await expectNoErrors(cloud)
    }
  }

  @Test("records are browsed, queried by a predicate, edited, made and deleted")
  func records() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      try await cloud.open("records", until: "storm")
      try await cloud.fill("predicate", with: #"count > 3 AND title BEGINSWITH "B""#)
      try await cloud.press("Query")
      try await cloud.hides("storm")
      try await cloud.shows("bread")

      // A private database belongs to a user, so it does not show the public records meanwhile.
      try await cloud.fill("database", with: "private")
      try await cloud.shows("Whose database?")
      try await cloud.hides("bread")
      let focused = try await cloud.browser.run("return document.activeElement.name;")
      #expect(focused == "user")
      try await cloud.fill("database", with: "public")
      try await cloud.shows("bread")

      // The message about a misspelt field has the nearest one.
      try await cloud.fill("predicate", with: "cuont > 3")
      try await cloud.press("Query")
      try await cloud.shows("'cuont'; did you mean 'count'?")
      try await cloud.fill("predicate", with: "count >")
      _ = try await cloud.browser.log()
      try await cloud.press("Query")
      try await cloud.shows("cannot parse the predicate format")
      // The browser writes the status 400 to its console.
      _ = try await cloud.browser.log()
      try await cloud.fill("predicate", with: "")
      try await cloud.press("Query")
      try await cloud.shows("milk")

      try await cloud.press("milk")
      try await cloud.fill("title", with: "Oat milk")
      try await cloud.press("Save changes")
      try await cloud.shows("Oat milk")
      let database = try await cloud.store.databases.database(
        at: DatabaseAddress(
          container: ConsoleCloud.container, environment: .development, scope: .public,
          owner: nil))
      let milk = RecordID(recordName: "milk")
      let saved = try await cloud.store.records.records([milk], in: database)
      #expect(saved[0]?.fields["title"] == .string("Oat milk"))
      #expect(saved[0]?.fields["count"] == .int64(1), "what was not edited stays")

      try await cloud.press("New record")
      try await cloud.fill("recordName", with: "eggs")
      try await cloud.press("Create the record")
      try await cloud.shows("eggs")

      try await cloud.press("bread")
      try await cloud.press("Delete…")
      try await cloud.press("Delete the record")
      try await cloud.hides("bread")
      let bread = RecordID(recordName: "bread")
      #expect(try await cloud.store.records.records([bread], in: database) == [nil])
      try await expectNoErrors(cloud)
    }
  }

  @Test("what development has is shown and deployed to production")
  func schema() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      try await cloud.open("schema", until: "+ RECORD TYPE Note")
      try await cloud.press("Deploy…")
      try await cloud.press("Deploy")
      try await cloud.shows("Production has everything that development has")
      let schema = try await cloud.store.schemas.schema(of: ConsoleCloud.container, in: .production)
      #expect(schema.recordTypes["Note"]?.fields.keys.sorted() == ["count", "title"])
      try await cloud.shows("create, update of Note by count")
      try await expectNoErrors(cloud)
    }
  }

  @Test("pushes appear as they are logged, wait while the list is paused, and are searched")
  func pushes() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      try await cloud.open("pushes", until: "No pushes yet")
      try await cloud.save("wind", title: "Wind", count: 12)
      try await cloud.shows("wind")
      try await cloud.shows("in the log only")

      try await cloud.press("Pause")
      try await cloud.save("rain", title: "Rain", count: 7)
      try await cloud.shows("1 arrived meanwhile")
      try await cloud.hides("rain")
      try await cloud.press("Resume")
      try await cloud.shows("rain")

      try await cloud.fill("text", with: "WIND")
      try await cloud.press("Search")
      try await cloud.hides("rain")
      try await cloud.shows("wind")
      try await expectNoErrors(cloud)
    }
  }

  @Test("the overview shows what matching looks at as it happens, and keeps to its grid")
  func matching() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      // The predicate has no index of its own to be found in vain: both are looked at, one fires.
      try await cloud.subscribe("few", predicate: "count > 3 AND title != 'Wind'")
      try await cloud.open("overview", until: "Subscriptions tested")
      try await cloud.shows("Tested a second")
      // Rates begin with the second sample.
      _ = try await cloud.found("the chart's lines", Self.lines + "return lines.length === 2;")
      try await cloud.save("wind", title: "Wind", count: 12)
      // How far the lines rose above the chart's floor: that of those that fired less far.
      let rises = try await cloud.found(
        "both lines rise",
        Self.lines
          + """
          const rises = lines.map((line) => {
            const heights = line.getAttribute('points').split(' ').map((point) => +point.split(',')[1]);
            return Math.max(...heights) - Math.min(...heights);
          });
          return rises.every((rise) => rise > 0) && rises;
          """)
      let heights = rises.array?.compactMap(\.double) ?? []
      #expect(heights.count == 2 && heights[0] > heights[1] * 1.5, "\(heights)")

      for (width, columns) in [(1280, 2), (390, 1)] {
        try await cloud.browser.command(
          "Emulation.setDeviceMetricsOverride",
          [
            "width": .int(Int64(width)), "height": 844, "deviceScaleFactor": 1,
            "mobile": .bool(width < 600),
          ])
        _ = try await cloud.found(
          "\(columns) charts beside each other, of one size and without a gap",
          """
          const boxes = [...document.querySelectorAll('.charts > *')]
            .map((card) => card.getBoundingClientRect());
          const rows = Map.groupBy(boxes, (box) => Math.round(box.top));
          return boxes.length === 6
            && [...rows.values()].every((row) => row.length === \(columns))
            && new Set(boxes.map((box) => Math.round(box.width))).size === 1;
          """)
      }
      try await expectNoErrors(cloud)
    }
  }

  /// Has the lines of the chart of matching in `lines`.
  private static let lines = """
    const chart = [...document.querySelectorAll('.chart')]
      .find((chart) => chart.querySelector('h2').innerText === 'Matching a second');
    const lines = chart ? [...chart.querySelectorAll('polyline')] : [];

    """

  @Test("a subscription's predicate is edited, and a mistake in it is told")
  func subscriptions() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      try await cloud.open("subscriptions", until: "count > 3")
      try await cloud.press("many")
      try await cloud.fill("predicate", with: "count > 3 OR count < 1")
      try await cloud.press("Save changes")
      try await eventually("the mistake is told") {
        try await cloud.browser.run("return document.body.innerText;").string?
          .contains("OR is not supported") ?? false
      }
      _ = try await cloud.browser.log()
      try await cloud.fill("predicate", with: "count > 8")
      try await cloud.press("Save changes")
      try await cloud.shows("count > 8")
      try await expectNoErrors(cloud)
    }
  }

  @Test("a key is made, shown once, and revoked")
  func keys() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.signIn()
      try await cloud.open("keys", until: "this session")
      try await cloud.press("New key or token")
      try await cloud.fill("name", with: "the phone app")
      try await cloud.press("Make it")
      var secret = ""
      try await eventually("the token is shown") {
        secret =
          try await cloud.browser.run("return document.querySelector('.secret')?.innerText ?? '';")
          .string ?? ""
        return secret.count == 64
      }
      try await cloud.shows("the phone app")
      let tokens = try await cloud.store.credentials.programCredentials().apiTokens
      #expect(tokens.map(\.hash) == [Authenticator.hash(of: secret)])
      try await cloud.press("Close")
      try await cloud.press("Revoke…")
      try await cloud.press("Revoke")
      try await cloud.shows("revoked")
      #expect(try await cloud.store.credentials.programCredentials().apiTokens[0].revoked != nil)
      try await expectNoErrors(cloud)
    }
  }

  @Test(
    "no page has a serious finding of axe, in both themes and at two widths, or an error",
    .enabled(if: Python.isInstalled, "run 'make tools' for axe"))
  func accessibility() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.save("storm", title: "Storm", count: 10)
      try await cloud.browser.go(to: cloud.server.url + "/console/sign-in")
      let atTheDoor = try await cloud.accessibilityFindings()
      #expect(atTheDoor == [], "the sign-in page")
      try await cloud.signIn()
      for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
        try await cloud.browser.command(
          "Emulation.setEmulatedMedia",
          ["features": [["name": "prefers-color-scheme", "value": .string(theme)]]])
        try await cloud.browser.command(
          "Emulation.setDeviceMetricsOverride",
          [
            "width": .int(Int64(width)), "height": 844, "deviceScaleFactor": 1,
            "mobile": .bool(width < 600),
          ])
        for (page, text) in Self.pages {
          try await cloud.open(page, until: text)
          let findings = try await cloud.accessibilityFindings()
          #expect(findings == [], "\(page), \(theme), \(width)")
          let isFitting = try await cloud.browser.run(
            "return document.documentElement.scrollWidth <= innerWidth;")
          #expect(isFitting == true, "\(page) is wider than \(width)")
          let folded = try await cloud.browser.run(
            """
            return [...document.querySelectorAll('button')].filter((button) => button.offsetHeight > 60)
              .map((button) => button.innerText);
            """)
          #expect(folded == [], "buttons of \(page) at \(width)")
        }
      }
      try await cloud.open("records", until: "milk")
      try await cloud.press("milk")
      let findings = try await cloud.accessibilityFindings()
      #expect(findings == [], "the record's form")
      try await expectNoErrors(cloud)
    }
  }
}
