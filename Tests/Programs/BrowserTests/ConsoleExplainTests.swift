import CloudKitModel
import Foundation
import JSONCoding
import PythonPrograms
import Testing
import Waiting

@testable import PetrelServer

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct ConsoleExplainTests {
  private func expectNoErrors(_ cloud: ConsoleCloud) async throws {
    let entries = try await cloud.browser.log().filter { $0.level == "SEVERE" }
    #expect(entries.isEmpty, "\(entries)")
  }

  private func record(_ name: String, _ cloud: ConsoleCloud) async throws -> Record? {
    let database = try await cloud.store.databases.database(
      at: DatabaseAddress(
        container: ConsoleCloud.container, environment: .development, scope: .public, owner: nil))
    return try await cloud.store.records.records([RecordID(recordName: name)], in: database)[0]
  }

  @Test("a push of the live list leads by the keyboard to what fired and what did not, and why")
  func pushExplained() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.subscribe("huge", predicate: "count > 100")
      try await cloud.signIn()
      try await cloud.open("pushes", until: "No pushes yet")
      try await cloud.save("wind", title: "Wind", count: 12)
      try await cloud.shows("wind")
      try await cloud.enter("tbody a")
      try await cloud.shows("Committed by the key “tests”")
      try await cloud.shows("many fired for anna")
      try await cloud.shows("No device")
      try await cloud.shows("1 subscription did not fire")
      try await cloud.shows("count > 100 does not hold: it is 12.")
      let focused = try await cloud.browser.run(
        "return document.activeElement.getAttribute('aria-label') ?? '';")
      #expect(focused.string?.hasPrefix("Created at") == true, "the change has the focus")
      try await expectNoErrors(cloud)
    }
  }

  @Test("an explanation's address leads there, even who has to sign in first")
  func deepLink() async throws {
    try await ConsoleCloud.run { cloud in
      let browser = cloud.browser
      try await cloud.subscribe("huge", predicate: "count > 100")
      try await cloud.save("wind", title: "Wind", count: 12)
      try await cloud.signIn()
      try await cloud.open("records", until: "wind")
      try await browser.click("a[aria-label^='Why pushes for wind']")
      try await cloud.shows("many fired for anna")
      // Narrowed to one subscription.
      try await cloud.fill("subscriber", with: "anna")
      try await cloud.fill("subscriptionID", with: "huge")
      try await cloud.press("Explain")
      try await cloud.hides("many fired")
      try await cloud.shows("count > 100 does not hold: it is 12.")
      let address = try await browser.url
      try await browser.click("#sign-out")
      try await eventually("the sign-in page is there") {
        try await browser.url.hasSuffix("/console/sign-in")
      }
      try await browser.go(to: "about:blank")
      try await browser.go(to: address)
      try await cloud.showKey()
      try await cloud.shows("count > 100 does not hold: it is 12.")
      #expect(try await browser.url == address)
      try await expectNoErrors(cloud)
    }
  }

  @Test("a subscription is explained with its firings and the filter that says no")
  func subscriptionExplained() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.save("wind", title: "Wind", count: 12)
      try await cloud.save("calm", title: "Calm", count: 0)
      try await cloud.signIn()
      try await cloud.open("subscriptions", until: "many")
      try await cloud.browser.click("a[aria-label='Firings of many']")
      try await cloud.shows("The latest 1 firing")
      try await cloud.shows("wind created")
      try await cloud.shows("Filters that did not match")
      try await cloud.follow("wind")
      try await cloud.shows("Committed by the key “tests”")
      try await expectNoErrors(cloud)
    }
  }

  @Test("a dry run of a record tells what would fire and what not, and saves nothing")
  func recordDryRun() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.subscribe("huge", predicate: "count > 100")
      try await cloud.signIn()
      try await cloud.open("subscriptions", until: "many")
      try await cloud.follow("Dry run")
      try await cloud.shows("saves nothing")
      try await cloud.fill("field-count", with: "7")
      try await cloud.press("Try the record")
      try await cloud.shows("1 subscription would fire")
      try await cloud.shows("1 subscription would not")
      try await cloud.shows("count > 100 does not hold: it is 7.")

      try await cloud.fill("source", with: "milk")
      try await cloud.press("Fill in")
      let title = try await cloud.found(
        "the record's values are filled in",
        "return document.getElementsByName('field-title')[0]?.value || null;")
      #expect(title == "Milk")
      try await cloud.fill("field-count", with: "many")
      try await cloud.press("Try the record")
      try await cloud.shows("“many” is not a whole number")
      try await cloud.fill("field-count", with: "200")
      try await cloud.press("Try the record")
      try await cloud.shows("2 subscriptions would fire")
      if Python.isInstalled {
        #expect(try await cloud.accessibilityFindings() == [])
      }
      #expect(try await record("milk", cloud)?.fields["count"] == .int64(1), "nothing is saved")
      #expect(try await record("sample", cloud) == nil)
      try await expectNoErrors(cloud)
    }
  }

  @Test("a predicate is tried on recent changes, and a mistake in it is pointed at")
  func subscriptionDryRun() async throws {
    try await ConsoleCloud.run { cloud in
      try await cloud.save("wind", title: "Wind", count: 12)
      try await cloud.save("calm", title: "Calm", count: 0)
      try await cloud.signIn()
      try await cloud.open("dry-run?try=subscription", until: "saves nothing")
      _ = try await cloud.browser.log()
      try await cloud.fill("predicate", with: #"count > AND title == "Wind""#)
      try await cloud.enter("input[name=predicate]")
      try await cloud.shows("There is a mistake in the predicate")
      try await cloud.shows("expected a key or a value, found the keyword 'AND'")
      let place = try await cloud.found(
        "the cursor is at the mistake",
        """
        const control = document.activeElement;
        return control.name === 'predicate' && control.getAttribute('aria-invalid')
          ? control.selectionStart : null;
        """)
      #expect(place == 8)
      // The browser writes the status 400 to its console.
      _ = try await cloud.browser.log()

      try await cloud.fill("predicate", with: #"count > 3 AND title == "Wind""#)
      try await cloud.enter("input[name=predicate]")
      try await cloud.shows("It would have fired on 1 change")
      try await cloud.shows("2 changes examined")
      try await cloud.shows("count > 3 did not hold for 1 change")
      if Python.isInstalled {
        #expect(try await cloud.accessibilityFindings() == [])
      }
      try await cloud.follow("wind")
      try await cloud.shows("many fired for anna")
      try await cloud.open("subscriptions", until: "many")
      try await cloud.hides("proposed")
      try await expectNoErrors(cloud)
    }
  }
}
