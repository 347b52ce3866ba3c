import Foundation
import JSONCoding
import Waiting

/// A headless Chromium, led over the W3C WebDriver protocol by its own driver.
final class WebDriver: Sendable {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let programs = ["/usr/bin/chromedriver", "/usr/bin/chromium"]

  static var isInstalled: Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
  }

  private let driver: DriverProcess
  private let session: String

  /// Runs `body` with a browser that has a profile of its own.
  ///
  /// - Parameter languages: what the user wants, the most wanted first.
  static func run(
    languages: [String] = ["en-US"], _ body: (WebDriver) async throws -> Void
  ) async throws {
    let folder = NSTemporaryDirectory() + "petrel-browser-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let driver = try await DriverProcess(Self.programs[0], folder: folder)
    let outcome: Result<Void, any Error>
    do {
      try await body(
        try await WebDriver(driver, profile: folder + "/profile", languages: languages))
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    // The driver takes its browser along.
    _ = try? await send("GET", driver.url + "/shutdown", nil)
    await driver.stop()
    try outcome.get()
  }

  private init(_ driver: DriverProcess, profile: String, languages: [String]) async throws {
    self.driver = driver
    let options: JSONValue = [
      "binary": .string(Self.programs[1]),
      // Chromium's own sandbox does not work for root.
      "args": [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", .string("--user-data-dir=\(profile)"), "--window-size=800,600",
      ],
      "prefs": ["intl.accept_languages": .string(languages.joined(separator: ","))],
    ]
    let answer = try await Self.send(
      "POST", driver.url + "/session",
      [
        "capabilities": [
          "alwaysMatch": [
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": ["browser": "ALL"],
          ]
        ]
      ])
    guard let session = answer["sessionId"]?.string else {
      throw Failure(description: "no browser: \(answer.text)")
    }
    self.session = "\(driver.url)/session/\(session)"
  }

  // MARK: Pages and windows

  func go(to url: String) async throws {
    try await post("/url", ["url": .string(url)])
  }

  var url: String {
    get async throws { try await get("/url").string ?? "" }
  }

  var windows: [String] {
    get async throws { try await get("/window/handles").array?.compactMap(\.string) ?? [] }
  }

  func enter(window: String) async throws {
    try await post("/window", ["handle": .string(window)])
  }

  func resize(width: Int64) async throws {
    try await post("/window/rect", ["width": .int(width), "height": 700])
  }

  // MARK: Elements

  func click(_ selector: String) async throws {
    try await post("/element/\(try await element(selector))/click", [:])
  }

  func type(_ text: String, into selector: String) async throws {
    try await post("/element/\(try await element(selector))/value", ["text": .string(text)])
  }

  /// The text of an element, once it is there. Found and read at once: pages put others in its place.
  func text(of selector: String) async throws -> String {
    var text: String?
    try await eventually("there is an element \(selector)") {
      text = try await self.run(
        "return document.querySelector(arguments[0])?.innerText ?? null;", .string(selector)
      ).string
      return text != nil
    }
    return text ?? ""
  }

  /// The element, once it is there.
  private func element(_ selector: String) async throws -> String {
    let query: JSONValue = ["using": "css selector", "value": .string(selector)]
    var found: String?
    try await eventually("there is an element \(selector)") {
      found = try? await self.post("/element", query).object?.values.first?.string
      return found != nil
    }
    return found ?? ""
  }

  // MARK: Scripts

  /// The value that a function's body returns; waits for promises.
  func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
    try await post("/execute/sync", ["script": .string(script), "args": .array(arguments)])
  }

  // MARK: Chromium's own

  /// Calls the DevTools protocol.
  @discardableResult
  func command(_ name: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
    try await post("/goog/cdp/execute", ["cmd": .string(name), "params": parameters])
  }

  /// Returns the lines that pages wrote to the browser's console since the last call: level and
  /// text.
  func log() async throws -> [(level: String, text: String)] {
    let entries = try await post("/se/log", ["type": "browser"]).array ?? []
    return entries.map { ($0["level"]?.string ?? "", $0["message"]?.string ?? "") }
  }

  // MARK: Requests

  private func get(_ path: String) async throws -> JSONValue {
    try await Self.send("GET", session + path, nil)
  }

  @discardableResult
  private func post(_ path: String, _ body: JSONValue) async throws -> JSONValue {
    try await Self.send("POST", session + path, body)
  }

  private static func send(
    _ method: String, _ url: String, _ body: JSONValue?
  ) async throws -> JSONValue {
    let data = try await DriverConnection.exchange(method, url, body.map { Data($0.text.utf8) })
    let value = try JSONValue(parsing: data)["value"] ?? .null
    if let error = value["error"]?.string {
      throw Failure(description: "\(method) \(url): \(error): \(value["message"]?.string ?? "")")
    }
    return value
  }
}

/// The driver's process.
final class DriverProcess: @unchecked Sendable {
  // Not changed after it was started.
  private let process: Process
  let url: String

  init(_ program: String, folder: String) async throws {
    var said = ""
    // The driver takes a free port of IPv4, and ends when that of IPv6 with the same number is in use.
    for _ in 0..<5 {
      let output = URL(fileURLWithPath: folder + "/driver.out")
      try Data().write(to: output)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["--port=0"]
      process.standardOutput = try FileHandle(forWritingTo: output)
      process.standardError = process.standardOutput
      process.standardInput = FileHandle.nullDevice
      try process.run()
      var port: Substring?
      do {
        try await eventually("the driver listens or has ended") {
          let hasEnded = !process.isRunning
          said = try String(contentsOf: output, encoding: .utf8)
          port = said.firstMatch(of: /successfully on port (\d+)/)?.output.1
          return port != nil || hasEnded
        }
      } catch {
        kill(process.processIdentifier, SIGKILL)
        throw error
      }
      if let port {
        self.process = process
        url = "http://127.0.0.1:\(port)"
        return
      }
    }
    throw WebDriver.Failure(description: "the driver does not start: \(said)")
  }

  func stop() async {
    try? await eventually("the driver has ended") { !process.isRunning }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }
}
