import Foundation
import Testing
import Waiting

/// A terminal window in which the example SyncedNotes runs: a process of its own.
final class NoteWindow {
  private let folder: ScratchFolder
  private let log: String
  private let input = Pipe()
  private let process: Process
  /// The number of lines of the output that ``expect(_:)`` has passed.
  private var position = 0
  private var listCount = 0

  /// Opens a window.
  ///
  /// - Parameters:
  ///   - commands: What is typed in the window, the start of the program last.
  ///   - name: The name of the window, by which its files are named.
  init(_ commands: [String], named name: String, in folder: ScratchFolder) throws {
    self.folder = folder
    log = "\(name).log"
    // The program takes the place of the shell, so that the process is the program's.
    let start = "exec " + (commands.last.map { $0.replacing(/^PETREL/, with: "env PETREL") } ?? "")
    try folder.write(
      (["set -eu"] + commands.dropLast() + [start]).joined(separator: "\n"), to: name)
    process = try folder.start(["bash", name], log: log, input: input)
  }

  /// The lines that the program has printed after those that ``expect(_:)`` has passed.
  private var newLines: ArraySlice<Substring> {
    folder.text(log).split(separator: "\n").dropFirst(position)
  }

  func type(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Waits for a line, which must come after those that were expected before.
  ///
  /// - Parameter line: The line. An ellipsis at its end, and what follows, stands for any text.
  @discardableResult
  func expect(_ line: String) async throws -> String {
    let parts = line.split(separator: "…", maxSplits: 1, omittingEmptySubsequences: false)
    var found = ""
    try await eventually("'\(line)' is printed; \(log) has: \(folder.text(log))") {
      let lines = newLines
      let index = lines.firstIndex { parts.count == 1 ? $0 == line : $0.hasPrefix(parts[0]) }
      guard let index else { return false }
      found = String(lines[index])
      position = index + 1
      return true
    }
    return found
  }

  /// Returns the lines of the command `list`, when the program has done all that was typed before.
  func list() async throws -> [String] {
    listCount += 1
    let end = "end-\(listCount)"
    try type("list")
    // The message of an error ends the list.
    try type("accept \(end)")
    let before = position
    try await expect("'\(end)' is not a URL")
    return folder.text(log).split(separator: "\n")[before..<position].map(String.init)
      .filter { $0.hasPrefix("  ") || $0.hasPrefix("* ") }
  }

  /// Waits until the program has printed something that was not expected before.
  func changes() async throws {
    try await eventually("\(log) has more lines") { !newLines.isEmpty }
    position += newLines.count
  }

  /// Kills the program, which can do nothing about it.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Lets the program end by itself.
  func quit() async throws {
    try type("quit")
    try await eventually("the program ends") { !process.isRunning }
    #expect(process.terminationStatus == 0, "\(folder.text(log))")
  }
}
