import Foundation
import FoundationNetworking
import IssuerSimulation
import JSONCoding
import OpenIDConnect
import PushChannels
import Storage
import StoreModel
import Waiting

@testable import Configuration
@testable import DatabaseAPI
@testable import PetrelServer

#if canImport(FoundationNetworking)
#endif

/// A server with an account, a web app on another origin, and a browser.
struct BrowserCloud: Sendable {
  static let container = "iCloud.com.example.web"
  static let password = "correct horse"

  let store: Store
  let server: Server
  let app: AppPage
  let browser: WebDriver

  static func run(
    issuer: IssuerSettings? = nil, webPush: WebPushSettings? = nil,
    languages: [String] = ["en-US"],
    configure: (inout ServerConfiguration, AppPage) -> Void = { _, _ in },
    _ body: (BrowserCloud) async throws -> Void
  ) async throws {
    let store = try await Store.inMemory()
    var configuration = ServerConfiguration(dataDirectory: "")
    configuration.port = 0
    configuration.channels.webPush = webPush
    if let issuer { configuration.signIn.issuers["test"] = issuer }
    let app = try AppPage()
    configure(&configuration, app)
    let server = try Server(configuration: configuration, store: store, log: .silent)
    try server.start()
    let outcome: Result<Void, any Error>
    do {
      _ = try await store.accounts.addUser(named: "anna", at: .now)
      try await Account.setPassword(password, ofUserNamed: "anna", in: store.accounts, at: .now)
      try await WebDriver.run(languages: languages) { browser in
        try await body(BrowserCloud(store: store, server: server, app: app, browser: browser))
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    await app.stop()
    await server.stop()
    await store.close()
    try outcome.get()
  }

  /// Registers an API token for pages of the app.
  func addAPIToken(_ callback: APIToken.SignInCallback = .postMessage) async throws -> String {
    try await Registration.addAPIToken(
      named: "web", container: Self.container, environment: .development,
      signInCallback: callback, origins: [try WebOrigin(parsing: app.origin)],
      to: store.credentials,
      at: .now)
  }

  /// Opens the app, which finds out that nobody is signed in.
  func open(at origin: String? = nil, apiToken: String, clientID: String = "browser") async throws {
    try await browser.go(to: (origin ?? app.origin) + "/")
    let settings: JSONValue = [
      "server": .string(server.url), "container": .string(Self.container),
      "apiToken": .string(apiToken), "clientId": .string(clientID),
    ]
    _ = try await browser.run("app.configure(arguments[0]);", settings)
  }

  /// Presses the app's button and enters the window that it opens; answers the app's window.
  func openSignIn() async throws -> String {
    let window = try await browser.windows[0]
    try await browser.click("#sign-in")
    try await enterOtherWindow(than: window)
    return window
  }

  func enterOtherWindow(than window: String) async throws {
    try await eventually("another window opens") { try await browser.windows.count == 2 }
    for other in try await browser.windows where other != window {
      try await browser.enter(window: other)
    }
  }

  func typePassword(_ password: String = password) async throws {
    try await browser.type("anna", into: "#name")
    try await browser.type(password, into: "#password")
    try await browser.click("button.first")
  }

  /// Waits until the sign-in window has closed itself, and goes back to the app's.
  func comeBack(to window: String) async throws {
    try await eventually("the window closes") { try await browser.windows == [window] }
    try await browser.enter(window: window)
    try await eventually("the app has a token") {
      try await browser.run("return Boolean(app.webAuthToken);").bool ?? false
    }
  }

  /// Returns the answer to a call of the app.
  func call(_ path: String, _ body: JSONValue? = nil, kind: String = "database") async throws
    -> JSONValue
  {
    try await browser.run(
      "return app.call(arguments[0], arguments[1], arguments[2] ?? undefined);", .string(kind),
      .string(path), body ?? .null)
  }

  /// Saves records as another device of the user does, without the browser.
  func saveElsewhere(_ body: JSONValue, as user: User) async throws {
    let answer = try await post("private/records/modify", body, as: user)
    guard answer["records"]?.array?.first?["recordChangeTag"] != nil else {
      throw WebDriver.Failure(description: answer.text)
    }
  }

  /// Returns the answer to a request of a user's phone.
  func post(_ operation: String, _ body: JSONValue, as user: User) async throws -> JSONValue {
    let token = try await Account.makeToken(for: user, in: store.accounts, at: .now)
    var components = URLComponents(string: server.url)
    components?.path = "/database/1/\(Self.container)/development/\(operation)"
    components?.percentEncodedQuery =
      "clientId=phone&ckWebAuthToken="
      + (token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    guard let url = components?.url else { throw WebDriver.Failure(description: "no URL") }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(body.text.utf8)
    let (data, _) = try await URLSession.shared.data(for: request)
    return try JSONValue(parsing: data)
  }
}
