import Foundation
import FoundationNetworking
import JSONCoding
import PythonPrograms
import Storage
import StoreModel
import Waiting

@testable import AdminAPI
@testable import Configuration
@testable import PetrelServer

#if canImport(FoundationNetworking)
#endif

/// A server with an admin key, some records and subscriptions, and a browser.
struct ConsoleCloud: Sendable {
  static let container = "iCloud.com.example.notes"

  let store: Store
  let server: Server
  let key: String
  let anna: User
  let browser: WebDriver

  static func run(_ body: (ConsoleCloud) async throws -> Void) async throws {
    let store = try await Store.inMemory()
    var configuration = ServerConfiguration(dataDirectory: "")
    configuration.port = 0
    let server = try Server(configuration: configuration, store: store, log: .silent)
    try server.start()
    let outcome: Result<Void, any Error>
    do {
      let key = try await AdminKeys.add(label: "tests", to: store.adminAccess, at: .now)
      let anna = try await store.accounts.addUser(named: "anna", at: .now)
      try await WebDriver.run { browser in
        let cloud = ConsoleCloud(
          store: store, server: server, key: key, anna: anna, browser: browser)
        try await cloud.fill()
        try await body(cloud)
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    await server.stop()
    await store.close()
    try outcome.get()
  }

  /// Saves a subscription of the user to records of type `Note`.
  func subscribe(_ subscriptionID: String, predicate: String) async throws {
    try await admin(
      "subscriptions/save",
      [
        "subscriber": .string(anna.name), "predicate": .string(predicate),
        "subscription": [
          "subscriptionID": .string(subscriptionID), "subscriptionType": "query",
          "zoneWide": true, "firesOn": ["create", "update"], "query": ["recordType": "Note"],
          "notificationInfo": ["alertBody": "Many of them"],
        ],
      ])
  }

  private func fill() async throws {
    for (name, title, count) in [("milk", "Milk", 1), ("bread", "Bread", 5), ("storm", "Storm", 9)]
    {
      try await save(name, title: title, count: Int64(count))
    }
    try await subscribe("many", predicate: "count > 3")
    try await admin(
      "zones/modify",
      [
        "database": "private", "user": .string(anna.name),
        "operations": [
          ["operationType": "create", "zone": ["zoneID": ["zoneName": "Travel"]]]
        ],
      ])
  }

  func save(_ name: String, title: String, count: Int64) async throws {
    try await admin(
      "records/modify",
      [
        "operations": [
          [
            "operationType": "forceUpdate",
            "record": [
              "recordType": "Note", "recordName": .string(name),
              "fields": [
                "title": ["value": .string(title)],
                "count": ["value": .int(count), "type": "INT64"],
              ],
            ],
          ]
        ]
      ])
  }

  /// Posts to the admin API, about the container's development environment.
  @discardableResult
  func admin(_ path: String, _ body: JSONValue) async throws -> JSONValue {
    var members = body.object ?? [:]
    members["container"] = .string(Self.container)
    guard let url = URL(string: "\(server.url)/admin/v1/\(path)") else {
      throw WebDriver.Failure(description: "no URL")
    }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(JSONValue.object(members).text.utf8)
    request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
    let (data, response) = try await URLSession.shared.data(for: request)
    let text = String(decoding: data, as: UTF8.self)
    guard (response as? HTTPURLResponse)?.statusCode == 200, !text.contains("serverErrorCode")
    else { throw WebDriver.Failure(description: "\(path): \(text)") }
    return try JSONValue(parsing: data)
  }

  // MARK: The browser

  func signIn() async throws {
    try await browser.go(to: server.url + "/console/")
    try await showKey()
    try await eventually("the console opens") {
      try await browser.text(of: "main").contains("Overview")
    }
  }

  /// Fills in the sign-in page.
  func showKey() async throws {
    try await browser.type(key, into: "input[name=key]")
    try await browser.click("button.first")
  }

  func open(_ page: String, until text: String) async throws {
    _ = try await browser.run("location.hash = '#/' + arguments[0];", .string(page))
    try await shows(text)
  }

  /// Waits until the page's main part shows this text.
  func shows(_ text: String) async throws {
    var shown = ""
    do {
      try await eventually("the page shows '\(text)'") {
        shown =
          try await browser.run("return document.querySelector('main').innerText;").string ?? ""
        return shown.contains(text)
      }
    } catch {
      throw WebDriver.Failure(description: "\(error); it shows:\n\(shown)")
    }
  }

  func hides(_ text: String) async throws {
    try await eventually("the page does not show '\(text)'") {
      try await browser.run("return document.querySelector('main').innerText;").string?
        .contains(text) == false
    }
  }

  /// Presses the button with this text that was made last, as one in a dialog was.
  func press(_ text: String) async throws {
    try await eventually("there is a button '\(text)'") {
      try await browser.run(
        """
        const all = [...document.querySelectorAll('button')].filter((button) =>
          button.innerText === arguments[0] && !button.disabled);
        all.at(-1)?.click();
        return all.length > 0;
        """, .string(text)
      ).bool ?? false
    }
  }

  /// Follows the link with this text that was made last.
  func follow(_ text: String) async throws {
    try await eventually("there is a link '\(text)'") {
      try await browser.run(
        """
        const all = [...document.querySelectorAll('a')].filter((link) => link.innerText === arguments[0]);
        all.at(-1)?.click();
        return all.length > 0;
        """, .string(text)
      ).bool ?? false
    }
  }

  /// Returns the value of a script, as soon as it is neither false nor null.
  func found(_ what: String, _ script: String) async throws -> JSONValue {
    var value = JSONValue.null
    try await eventually("\(what)") {
      value = try await browser.run(script)
      return value != .null && value != false
    }
    return value
  }

  /// Waits for a link and presses the return key on it.
  func enter(_ selector: String) async throws {
    try await browser.type("\u{E007}", into: selector)
  }

  /// Puts a value into the control of this name that was made last, in place of what it has.
  func fill(_ name: String, with value: String) async throws {
    try await eventually("there is a control '\(name)'") {
      try await browser.run(
        """
        const control = [...document.getElementsByName(arguments[0])].at(-1);
        if (!control) return false;
        control.value = arguments[1];
        control.dispatchEvent(new Event('change', { bubbles: true }));
        return true;
        """, .string(name), .string(value)
      ).bool ?? false
    }
  }

  /// The serious findings of axe-core on the page as it is: rule and elements.
  func accessibilityFindings() async throws -> [String] {
    let source = try String(contentsOfFile: try Self.axe.get(), encoding: .utf8)
    _ = try await browser.run("if (!window.axe) { \(source) }")
    let found = try await browser.run(
      """
      return axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations
        .filter((rule) => ['serious', 'critical'].includes(rule.impact))
        .map((rule) => rule.id + ': ' + rule.nodes.map((node) => node.html).join(' | ')));
      """)
    return found.array?.compactMap(\.string) ?? ["axe gave no answer: \(found.text)"]
  }

  private static let axe = Result {
    try Python.run(
      """
      import os, axe_selenium_python
      folder = os.path.dirname(axe_selenium_python.__file__)
      print(os.path.join(folder, "node_modules/axe-core/axe.min.js"))
      """)
  }
}
