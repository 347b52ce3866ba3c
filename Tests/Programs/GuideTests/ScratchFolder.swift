import Foundation
import RepositoryFiles
import Testing
import Waiting

/// A folder of a test's own, in which it runs the programs of this package.
struct ScratchFolder {
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

  /// Starts a server, and returns its address when it listens.
  func startServer() async throws -> (Process, address: Substring) {
    let server = try start(["petrel", "serve", "--port", "0"], log: "server.log")
    try await eventually("the server listens") { text("server.log").contains("listens on") }
    return (server, try #require(text("server.log").firstMatch(of: /http:\S+/)?.output))
  }

  /// The indented lines of a page, as a reader with this server types them. The lines that build
  /// programs and start the server are left out.
  func commands(of page: String, server address: Substring) throws -> [String] {
    try RepositoryFile.text(page).components(separatedBy: "```").enumerated()
      // Every second part is a block of code or of output.
      .filter { $0.offset.isMultiple(of: 2) }.flatMap { $0.element.split(separator: "\n") }
      .filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
      .filter { !$0.hasPrefix("make serve") && !$0.hasPrefix("swift build") }
      .map { command in
        command.replacing("http://127.0.0.1:8080", with: address)
          .replacing(".build/release/", with: "").replacing(".build/debug/", with: "")
      }
      .map(String.init)
  }

  /// Runs commands in a shell of their own, expects that they succeed, and returns their output.
  func run(_ commands: [String]) async throws -> String {
    try write((["set -eu"] + commands).joined(separator: "\n"), to: "script")
    // A command that waits in vain ends with all that the script has started.
    let shell = try start(["timeout", "120", "bash", "script"], log: "script.log")
    try await eventually("the commands end") { !shell.isRunning }
    let output = text("script.log")
    #expect(shell.terminationStatus == 0, "\(output)")
    return output
  }

  /// Starts a program, which finds the package's own programs by their names.
  ///
  /// - Parameter input: The standard input; nil for an empty one.
  func start(_ words: [String], log: String, input: Pipe? = nil) throws -> Process {
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
    process.standardInput = input ?? FileHandle.nullDevice
    try process.run()
    return process
  }
}
