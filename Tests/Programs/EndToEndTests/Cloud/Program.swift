import CloudKit
import Waiting

/// A program of this package that runs in a process of its own.
final class Program: @unchecked Sendable {
  /// Where the programs lie: beside the tests.
  private static let directory = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  ).deletingLastPathComponent()

  private let process = Process()
  private let outputFile: URL

  static func isBuilt(_ name: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path(of: name))
  }

  static func path(of name: String) -> String { directory.appendingPathComponent(name).path }

  /// Whether a program can be run by another one here, such as `setpriv` with its words.
  static func canRun(_ name: String, through launcher: [String]) -> Bool {
    guard isBuilt(name), let first = launcher.first,
      FileManager.default.isExecutableFile(atPath: first)
    else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: first)
    process.arguments = launcher.dropFirst() + [path(of: name), "version"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - environment: set over that of the tests.
  ///   - input: what the program reads.
  ///   - launcher: the program that runs this one, and its words.
  ///   - folder: where the program works, and where its output is kept.
  init(
    _ name: String, _ arguments: [String] = [], environment: [String: String] = [:],
    input: String? = nil, through launcher: [String] = [], in folder: String
  ) throws {
    outputFile = URL(fileURLWithPath: folder).appendingPathComponent("\(UUID().uuidString).out")
    try Data().write(to: outputFile)
    let words = launcher + [Self.path(of: name)] + arguments
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    // A file, not a pipe: into a pipe that the program does not read, nobody can write a long text. Only the
    // program has it when it has begun.
    let inputFile = outputFile.deletingPathExtension().appendingPathExtension("in")
    if let input { try Data(input.utf8).write(to: inputFile) }
    let input = try input.map { _ in try FileHandle(forReadingFrom: inputFile) }
    process.standardInput = input ?? FileHandle.nullDevice
    let output = try FileHandle(forWritingTo: outputFile)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    // Foundation keeps it open here for good.
    try output.close()
    try input?.close()
    if input != nil { try FileManager.default.removeItem(at: inputFile) }
  }

  deinit {
    // A test that failed has left it.
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }

  /// The text that the program has printed so far.
  var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }

  /// Waits for a line of the output with a text in it, to its end.
  @discardableResult
  func line(containing text: String) async throws -> String {
    var line: Substring?
    try await eventually("the program prints '\(text)'; it printed: \(output)") {
      let isEnded = !process.isRunning
      line = output.split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast(isEnded ? 0 : 1).first { $0.contains(text) }
      if line == nil, isEnded { throw Ended(output: output) }
      return line != nil
    }
    return String(line ?? "")
  }

  /// The program has ended before it did what was waited for.
  struct Ended: Error {
    var output: String
  }

  var isRunning: Bool { process.isRunning }

  /// How many bytes of files the program has read and written until now; zero once it has ended.
  var bytesOfFiles: Int {
    let text = try? String(
      contentsOfFile: "/proc/\(process.processIdentifier)/io", encoding: .utf8)
    return (text ?? "").split(separator: "\n").reduce(0) { sum, line in
      let words = line.split(separator: ": ")
      return words.count == 2 && ["rchar", "wchar"].contains(words[0])
        ? sum + (Int(words[1]) ?? 0) : sum
    }
  }

  /// Waits for the end and answers the exit status.
  func end() async throws -> Int32 {
    // Longer than for most, since a copy of much beside a load may take its time.
    try await eventually("the program has ended; it printed: \(output)", within: .seconds(120)) {
      !process.isRunning
    }
    return process.terminationStatus
  }

  func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

  /// Takes the process away without a chance to put anything in order.
  func kill() async throws {
    Foundation.kill(process.processIdentifier, SIGKILL)
    _ = try await end()
  }
}
