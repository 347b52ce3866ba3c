import CloudKit
import RepositoryFiles
import Testing
import Waiting

/// The commands of the guide's page on a first server, as a reader types them.
struct FirstServerTests {
  @Test("The commands of the page lead to a notification and to its explanation")
  func commands() async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let server = try folder.start(["petrel", "serve", "--port", "0"], log: "server.log")
    defer { server.terminate() }
    try await eventually("the server listens") { folder.text("server.log").contains("listens on") }
    let address = try #require(folder.text("server.log").firstMatch(of: /http:\S+/)?.output)

    let page = try RepositoryFile.text("docs/guide/first-server.md")
    let commands = page.split(separator: "\n").filter { $0.hasPrefix("    ") }
      .map { String($0.dropFirst(4)) }
      .filter { !$0.hasPrefix("make serve") && !$0.hasPrefix("swift build") }
      // Of the output that the page shows.
      .filter { !$0.contains("listens on") && !$0.contains("its data is in") }
      .map { command in
        command.replacing("http://127.0.0.1:8080", with: address)
          .replacing(".build/release/", with: "").replacing(".build/debug/", with: "")
          .replacing("explain record NAME", with: "explain record $NAME")
      }
    #expect(commands.count >= 9)
    let phone = try #require(commands.firstIndex { $0.hasSuffix("FirstProgram &") })
    let query = try #require(commands.firstIndex { $0.contains("records query") })
    // What a reader does by hand: look at the phone, and take a name from a list.
    var script = commands
    script[phone] = script[phone].replacing(
      "FirstProgram &", with: "stdbuf -oL FirstProgram > phone.log &")
    script.insert(
      "NAME=$(\(commands[query]) --predicate 'magnitude > 6' | awk 'NR == 2 { print $1 }')",
      at: query + 1)
    script.insert(
      "until petrel users show anna | grep -q courier; do :; done", at: phone + 1)
    script.insert("until [ -s phone.log ]; do :; done", at: phone + 3)
    try folder.write((["set -eu"] + script + ["kill %1"]).joined(separator: "\n"), to: "script")

    // A command that waits in vain ends with all that the script has started.
    let shell = try folder.start(["timeout", "120", "bash", "script"], log: "script.log")
    try await eventually("the commands end") { !shell.isRunning }
    let output = folder.text("script.log")
    #expect(shell.terminationStatus == 0, "\(output)")
    #expect(folder.text("phone.log").contains("subscription strong, recordCreated"))
    #expect(output.contains("strong of anna"), "\(output)")
  }
}

/// A folder of a test's own, in which it runs the programs of this package.
private struct ScratchFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func remove() {
    try? FileManager.default.removeItem(at: url)
  }

  func text(_ name: String) -> String {
    (try? String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  func write(_ text: String, to name: String) throws {
    try text.write(to: url.appendingPathComponent(name), atomically: true, encoding: .utf8)
  }

  /// Starts a program, which finds the package's own programs by their names.
  func start(_ words: [String], log: String) throws -> Process {
    let programs = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    ).deletingLastPathComponent().path
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = url
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PATH": "\(programs):/usr/local/bin:/usr/bin:/bin", "HOME": url.path]
    ) { $1 }
    try write("", to: log)
    let output = try FileHandle(forWritingTo: url.appendingPathComponent(log))
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }
}
