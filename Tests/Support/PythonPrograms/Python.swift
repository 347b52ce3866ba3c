import Foundation
import Waiting

/// The Python that `make tools` installs beside what the compiler makes, with the packages of
/// `Scripts/requirements.txt`.
public final class Python: @unchecked Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  private static let interpreter: URL? = {
    var folder = URL(
      fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe")) ?? CommandLine.arguments[0])
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let candidate = folder.appending(path: "python/bin/python")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
    return nil
  }()

  public static var isInstalled: Bool { interpreter != nil }

  // Not changed after it was started.
  private let process = Process()
  private let files: URL

  /// Starts a program that goes on by itself.
  ///
  /// - Parameter program: its text.
  public init(_ program: String, _ arguments: [String] = []) throws {
    guard let interpreter = Self.interpreter else {
      throw Failure(description: "there is no Python; run 'make tools'")
    }
    files = FileManager.default.temporaryDirectory.appending(path: "python-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    let script = files.appending(path: "program.py")
    try Data(program.utf8).write(to: script)
    for name in ["out", "err"] { try Data().write(to: files.appending(path: name)) }
    process.executableURL = interpreter
    process.arguments = [script.path] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files.appending(path: "out"))
    process.standardError = try FileHandle(forWritingTo: files.appending(path: "err"))
    try process.run()
  }

  deinit {
    try? FileManager.default.removeItem(at: files)
  }

  /// The text that the program has printed so far.
  public var output: String { text("out") }

  private func text(_ name: String) -> String {
    (try? String(contentsOf: files.appending(path: name), encoding: .utf8)) ?? ""
  }

  /// Waits for a line that the program prints, to its end.
  public func line(beginningWith prefix: String) async throws -> String {
    var found: Substring?
    try await eventually("Python prints '\(prefix)'") {
      found = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .first { $0.hasPrefix(prefix) }
      if found == nil, !process.isRunning { throw Failure(description: text("err")) }
      return found != nil
    }
    return String((found ?? "").dropFirst(prefix.count))
  }

  /// Ends the program.
  public func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Runs a program to its end and answers what it printed.
  ///
  /// - Throws: ``Failure`` with what it complained of.
  public static func run(_ program: String, _ arguments: String...) throws -> String {
    let python = try Python(program, arguments)
    python.process.waitUntilExit()
    guard python.process.terminationStatus == 0 else {
      throw Failure(description: python.text("err"))
    }
    return python.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
