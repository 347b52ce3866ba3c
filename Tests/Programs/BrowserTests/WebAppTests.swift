import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct WebAppTests {
  private func note(_ name: String, _ title: String) -> JSONValue {
    [
      "operations": [
        [
          "operationType": "create",
          "record": [
            "recordType": "Note", "recordName": .string(name),
            "fields": ["title": ["value": .string(title)]],
          ],
        ]
      ]
    ]
  }

  @Test("someone signs in, saves, queries, subscribes, and hears of a change made elsewhere")
  func wholeWay() async throws {
    try await BrowserCloud.run { cloud in
      let apiToken = try await cloud.addAPIToken()
      try await cloud.open(apiToken: apiToken)
      let first = try await cloud.browser.run("return app.setUpAuth();")
      #expect(first["status"] == 421)
      #expect(first["json"]?["serverErrorCode"] == "AUTHENTICATION_REQUIRED")

      let window = try await cloud.openSignIn()
      #expect(try await cloud.browser.text(of: "main").contains(BrowserCloud.container))
      #expect(try await cloud.browser.text(of: "main").contains(cloud.app.origin))
      try await cloud.typePassword()
      try await cloud.comeBack(to: window)
      let user = try #require(try await cloud.store.accounts.user(named: "anna"))
      let caller = try await cloud.call("public/users/caller")
      #expect(caller["json"]?["userRecordName"]?.string == user.userRecordName, "\(caller.text)")

      let saved = try await cloud.call("private/records/modify", note("first", "Milk"))
      #expect(saved["status"] == 200, "\(saved.text)")
      let found = try await cloud.call(
        "private/records/query",
        [
          "query": [
            "recordType": "Note",
            "filterBy": [
              [
                "comparator": "EQUALS", "fieldName": "title",
                "fieldValue": ["value": "Milk", "type": "STRING"],
              ]
            ],
          ]
        ])
      #expect(
        found["json"]?["records"]?.array?.compactMap { $0["recordName"]?.string } == ["first"],
        "\(found.text)")

      let subscribed = try await cloud.call(
        "private/subscriptions/modify",
        [
          "operations": [
            [
              "operationType": "create",
              "subscription": [
                "subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
                "query": ["recordType": "Note"],
                "notificationInfo": ["alertBody": "A new note"],
              ],
            ]
          ]
        ])
      #expect(subscribed["status"] == 200, "\(subscribed.text)")
      let token = try await cloud.call(
        "tokens/create", ["apnsEnvironment": "development"], kind: "device")
      #expect(token["status"] == 200, "\(token.text)")
      let registered = try await cloud.call(
        "tokens/register",
        [
          "apnsEnvironment": "development", "apnsToken": token["json"]?["apnsToken"] ?? .null,
          "clientId": "browser",
        ], kind: "device")
      #expect(registered["status"] == 200, "\(registered.text)")

      // The poll is under way before the change is made.
      _ = try await cloud.browser.run(
        "app.poll = fetch(arguments[0]).then((answer) => answer.json()); return null;",
        token["json"]?["webcourierURL"] ?? .null)
      try await cloud.saveElsewhere(note("second", "Bread"), as: user)
      let notification = try await cloud.browser.run("return app.poll;")
      #expect(notification["ck"]?["qry"]?["rid"] == "second", "\(notification.text)")
      #expect(notification["aps"]?["alert"] == "A new note", "\(notification.text)")
    }
  }

  @Test("a wrong password is told in place, in a narrow window too, and the right one then works")
  func wrongPassword() async throws {
    try await BrowserCloud.run { cloud in
      try await cloud.open(apiToken: try await cloud.addAPIToken())
      _ = try await cloud.browser.run("return app.setUpAuth();")
      let window = try await cloud.openSignIn()
      try await cloud.browser.resize(width: 320)
      try await cloud.typePassword("wrong horse")
      #expect(
        try await cloud.browser.text(of: "[role=alert]")
          == "The name or the password is not right. Enter the account's name with its upper and "
          + "lower case; an e-mail address does not replace it."
      )
      let page = try await cloud.browser.run(
        """
        const root = document.documentElement;
        return {
          fits: root.scrollWidth <= root.clientWidth,
          width: getComputedStyle(document.querySelector('main')).maxWidth,
          focus: document.activeElement.id,
          labels: [...document.querySelectorAll('input:not([type=hidden])')]
            .every((input) => input.labels.length === 1)
        };
        """)
      #expect(page["fits"] == .bool(true))
      // The policy lets the page's own style in.
      #expect(page["width"] == "384px")
      #expect(page["focus"] == "name")
      #expect(page["labels"] == .bool(true))
      _ = try await cloud.browser.run("document.getElementById('name').value = '';")
      try await cloud.typePassword()
      try await cloud.comeBack(to: window)
    }
  }

  @Test("who cancels comes back to the app, which is told, and may try again")
  func cancels() async throws {
    try await BrowserCloud.run { cloud in
      try await cloud.open(apiToken: try await cloud.addAPIToken())
      _ = try await cloud.browser.run("return app.setUpAuth();")
      let window = try await cloud.openSignIn()
      try await cloud.browser.click("button[formaction$='/cancel']")
      try await eventually("the window closes") { try await cloud.browser.windows == [window] }
      try await cloud.browser.enter(window: window)
      let messages = try await cloud.browser.run("return app.messages;")
      #expect(
        messages == [
          [
            "origin": .string(cloud.server.url),
            "data": ["errorMessage": "the sign-in was cancelled"],
          ]
        ])
      #expect(try await cloud.browser.run("return Boolean(app.webAuthToken);") == .bool(false))
      try await cloud.browser.click("#sign-in")
      try await cloud.enterOtherWindow(than: window)
      try await cloud.typePassword()
      try await cloud.comeBack(to: window)
    }
  }

  @Test("with a callback URL the browser comes back to it with the token")
  func redirect() async throws {
    try await BrowserCloud.run { cloud in
      let apiToken = try await cloud.addAPIToken(.redirect(url: cloud.app.origin + "/?from=cloud"))
      try await cloud.open(apiToken: apiToken)
      _ = try await cloud.browser.run("return app.setUpAuth();")
      let url = try await cloud.browser.run("return app.redirectURL;").string ?? ""
      try await cloud.browser.go(to: url)
      try await cloud.typePassword()
      try await eventually("the browser is back") {
        try await cloud.browser.url.hasPrefix(cloud.app.origin + "/?from=cloud&ckWebAuthToken=")
      }
      try await reopen(cloud, apiToken: apiToken)
      let caller = try await cloud.call("public/users/caller")
      #expect(caller["status"] == 200, "\(caller.text)")
    }
  }

  /// Takes up the token of the page's URL, as the app does that is called back.
  private func reopen(_ cloud: BrowserCloud, apiToken: String) async throws {
    let settings: JSONValue = [
      "server": .string(cloud.server.url), "container": .string(BrowserCloud.container),
      "apiToken": .string(apiToken), "clientId": "browser",
    ]
    _ = try await cloud.browser.run(
      """
      app.configure(arguments[0]);
      app.webAuthToken = new URLSearchParams(location.search).get('ckWebAuthToken');
      """, settings)
  }

  @Test("a page of another origin gets neither an answer nor the token")
  func strangers() async throws {
    try await BrowserCloud.run { cloud in
      let apiToken = try await cloud.addAPIToken()
      try await cloud.open(apiToken: apiToken)
      _ = try await cloud.browser.run("return app.setUpAuth();")
      let url = try await cloud.browser.run("return app.redirectURL;")

      let stranger = try AppPage()
      do {
        try await cloud.open(at: stranger.origin, apiToken: apiToken)
        let refused = try await cloud.browser.run(
          "return app.setUpAuth().then(() => 'answered', (error) => error.name);")
        #expect(refused == "TypeError")
        // Even with the right address of the page.
        let window = try await cloud.browser.windows[0]
        _ = try await cloud.browser.run(
          """
          const button = document.getElementById('sign-in');
          button.disabled = false;
          button.onclick = () => { window.open(arguments[0], 'sign-in'); };
          """, url)
        try await cloud.browser.click("#sign-in")
        try await cloud.enterOtherWindow(than: window)
        try await cloud.typePassword()
        try await eventually("the window closes") {
          try await cloud.browser.windows == [window]
        }
        try await cloud.browser.enter(window: window)
        // A message would have come before what the page posts to itself now.
        let messages = try await cloud.browser.run(
          """
          return new Promise((resolve) => {
            window.postMessage({ own: true }, location.origin);
            window.addEventListener('message', () => resolve(app.messages.length));
          });
          """)
        #expect(messages == 1)
      } catch {
        await stranger.stop()
        throw error
      }
      await stranger.stop()
    }
  }
}
