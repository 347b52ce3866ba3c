import Foundation
import JSONCoding
import OutboundHTTP
import PushChannels
import StoreModel
import Testing
import Waiting
import WebPushSimulation

@testable import DatabaseAPI

/// A browser subscribes at its vendor's push service, which a test has not: here the page gets a
/// subscription at a push service of our own, and what arrives there is handed to the service worker
/// over DevTools. Everything else is as in life: the page, its requests, the message, the worker.
@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct WebPushInBrowserTests {
  @Test("the documented page registers, and its service worker shows what is saved elsewhere")
  func shows() async throws {
    try await withApp { app, push, cloud in
      let anna = try #require(try await cloud.store.accounts.user(named: "anna"))
      let devices = try await cloud.store.devices.deviceTokens(of: anna.userRecordName)
      #expect(devices.map(\.kind) == [.webPush])
      #expect(devices.first?.deviceID == "my-browser")

      let first = try await show(
        #"{ "alertBody": "Milk is in the fridge" }"#, of: app, through: push, in: cloud)
      #expect(first?["title"] == "Notes")
      #expect(first?["body"] == "Milk is in the fridge")
      #expect(first?["rid"] == "A")

      try await cloud.browser.click("#off")
      try await eventually("the browser is forgotten") {
        try await cloud.store.devices.deviceTokens(of: anna.userRecordName).isEmpty
      }
    }
  }

  private static let localized = """
    { "alertLocalizationKey": "NEW_%@", "alertLocalizationArgs": ["title"],
      "titleLocalizationKey": "Notebook" }
    """

  @Test(
    "the documented service worker shows a localised alert in the browser's language",
    arguments: [
      [
        "/strings/Localizable.xcstrings": """
        { "sourceLanguage": "en", "version": "1.0", "strings": {
          "Notebook": {},
          "NEW_%@": { "localizations": { "de": {
            "stringUnit": { "state": "translated", "value": "Neu: %1$@" } } } } } }
        """
      ],
      [
        "/strings/de.lproj/Localizable.strings": "\"NEW_%@\" = \"Neu\\U003a %@\";",
        "/strings/Base.lproj/Localizable.strings": "\"NEW_%@\" = \"New: %@\"; Notebook;",
      ],
    ])
  func localized(tables: [String: String]) async throws {
    try await withApp(languages: ["de-AT", "fr"], tables) { app, push, cloud in
      let shown = try await show(Self.localized, of: app, through: push, in: cloud)
      #expect(shown?["title"] == "Notebook")
      #expect(shown?["body"] == "Neu: Butter")
    }
  }

  @Test("without strings the documented service worker says that something changed")
  func withoutStrings() async throws {
    try await withApp { app, push, cloud in
      let shown = try await show(Self.localized, of: app, through: push, in: cloud)
      #expect(shown?["title"] == "Notes")
      #expect(shown?["body"] == "Something changed")
    }
  }

  /// Runs `body` with the app, open in a browser that is registered for pushes.
  ///
  /// - Parameter files: Texts that the app serves besides, by path.
  private func withApp(
    languages: [String] = ["en-US"], _ files: [String: String] = [:],
    _ body: (DocumentedApp, SimulatedPushService, BrowserCloud) async throws -> Void
  ) async throws {
    let folder = NSTemporaryDirectory() + "petrel-push-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let push = try SimulatedPushService(folder: folder)
    let app = try DocumentedApp()
    for (path, text) in files { app.add(text, at: path) }
    var webPush = WebPushSettings(subject: "mailto:ops@example.com")
    webPush.outbound.allowedNetworks = ["127.0.0.0/8"].compactMap(IPNetwork.init)
    webPush.outbound.authorityFile = push.authorityFile
    do {
      try await BrowserCloud.run(webPush: webPush, languages: languages) { cloud in
        let anna = try #require(try await cloud.store.accounts.user(named: "anna"))
        try await open(app, as: anna, in: cloud)
        try await subscribe(push, in: cloud)
        try await body(app, push, cloud)
      }
    } catch {
      await app.stop()
      await push.stop()
      throw error
    }
    await app.stop()
    await push.stop()
  }

  /// The notification that the worker shows for a record that another device saves.
  ///
  /// - Parameter notificationInfo: the subscription's, in JSON.
  private func show(
    _ notificationInfo: String, of app: DocumentedApp, through push: SimulatedPushService,
    in cloud: BrowserCloud
  ) async throws -> JSONValue? {
    let anna = try #require(try await cloud.store.accounts.user(named: "anna"))
    let message = try await notification(
      notificationInfo, of: anna, through: push, in: cloud)
    let text = try #require(message.text)
    var first: JSONValue?
    try await eventually("the worker shows a notification") {
      try await deliver(text, to: app, in: cloud)
      first = try await shown(in: cloud).array?.first
      return first != nil
    }
    return first
  }

  private func open(_ app: DocumentedApp, as user: User, in cloud: BrowserCloud) async throws {
    let apiToken = try await Registration.addAPIToken(
      named: "notes", container: BrowserCloud.container, environment: .development,
      origins: [try WebOrigin(parsing: app.origin)], to: cloud.store.credentials, at: .now)
    let token = try await Account.makeToken(for: user, in: cloud.store.accounts, at: .now)
    try app.put(cloud.server.url, insteadOf: "https://cloud.example.com")
    try app.put(BrowserCloud.container, insteadOf: "iCloud.com.example.app")
    try app.put(apiToken, insteadOf: "API_TOKEN")
    try app.put("encodeURIComponent(\"\(token)\")", insteadOf: "encodeURIComponent(TOKEN)")
    try await cloud.browser.command(
      "Browser.grantPermissions",
      ["origin": .string(app.origin), "permissions": ["notifications"]])
    try await cloud.browser.go(to: app.origin + "/")
  }

  /// Presses the page's button. In the place of the vendor's push service stands ours.
  private func subscribe(_ push: SimulatedPushService, in cloud: BrowserCloud) async throws {
    let subscription = try push.subscribe()
    let json: JSONValue = [
      "endpoint": .string(subscription.endpoint), "expirationTime": .null,
      "keys": ["p256dh": .string(subscription.p256dh), "auth": .string(subscription.auth)],
    ]
    _ = try await cloud.browser.run(
      """
      const json = arguments[0];
      const subscription = { endpoint: json.endpoint, toJSON: () => json, unsubscribe: async () => true };
      PushManager.prototype.subscribe = async options => {
        window.subscribedWith = options;
        return subscription;
      };
      PushManager.prototype.getSubscription = async () => subscription;
      """, json)
    try await cloud.browser.click("#on")
    let anna = try #require(try await cloud.store.accounts.user(named: "anna")).userRecordName
    try await eventually("the browser is registered") {
      try await cloud.store.devices.deviceTokens(of: anna).count == 1
    }
    let options = try await cloud.browser.run("return window.subscribedWith;")
    #expect(options["userVisibleOnly"] == true)
    #expect(options["applicationServerKey"]?.string?.count == 87)
  }

  /// Saves a record as another device of the user, and answers what came to the push service.
  private func notification(
    _ notificationInfo: String, of user: User, through push: SimulatedPushService,
    in cloud: BrowserCloud
  ) async throws -> SimulatedPushService.Message {
    let answer = try await cloud.browser.run(
      """
      return call("../../../../database/1/" + arguments[0]
        + "/development/private/subscriptions/modify", { operations: [{
          operationType: "create", subscription: {
            subscriptionID: "notes", subscriptionType: "query", firesOn: ["create"],
            query: { recordType: "Note" },
            notificationInfo: arguments[1] } }] });
      """, .string(BrowserCloud.container), try JSONValue(parsing: Data(notificationInfo.utf8)))
    #expect(answer["subscriptions"]?.array?.first?["subscriptionID"] == "notes", "\(answer.text)")
    try await cloud.saveElsewhere(
      [
        "operations": [
          [
            "operationType": "create",
            "record": [
              "recordType": "Note", "recordName": "A", "fields": ["title": ["value": "Butter"]],
            ],
          ]
        ]
      ], as: user)
    let message = try #require(try await push.wait(count: 1).first)
    #expect(message.faults == [])
    return message
  }

  /// Hands a message to the page's service worker, as the browser does when one has come.
  private func deliver(
    _ text: String, to app: DocumentedApp, in cloud: BrowserCloud
  ) async throws {
    _ = try await cloud.browser.run(
      "return navigator.serviceWorker.ready.then(worker => Boolean(worker.active));")
    try await cloud.browser.command("ServiceWorker.enable")
    // The first registration in a new profile.
    try await cloud.browser.command(
      "ServiceWorker.deliverPushMessage",
      ["origin": .string(app.origin + "/"), "registrationId": "0", "data": .string(text)])
  }

  /// Returns the notifications that the browser shows, after a pause. Chromium drops a notification
  /// that is queried while Chromium displays it.
  private func shown(in cloud: BrowserCloud) async throws -> JSONValue {
    try await cloud.browser.run(
      """
      return new Promise(done => setTimeout(done, 300)).then(() => navigator.serviceWorker.ready)
        .then(worker => worker.getNotifications()).then(all =>
          all.map(({ title, body, data }) => ({ title, body, rid: data.qry && data.qry.rid })));
      """)
  }
}
