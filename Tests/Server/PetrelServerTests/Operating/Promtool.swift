import Foundation

/// Prometheus' own checks of what is meant for it, which `make tools` puts beside what the compiler
/// makes.
struct Promtool {
  static let path: String? = {
    var folder = URL(
      fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe")) ?? CommandLine.arguments[0])
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let candidate = folder.appending(path: "tools/promtool").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    return nil
  }()

  /// Runs it and answers its exit status and what it said.
  static func run(_ arguments: [String], input: String = "") throws -> (status: Int32, text: String)
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path ?? "/nowhere/promtool")
    process.arguments = arguments
    let files = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: files) }
    try Data(input.utf8).write(to: files.appending(path: "in"))
    try Data().write(to: files.appending(path: "out"))
    process.standardInput = try FileHandle(forReadingFrom: files.appending(path: "in"))
    process.standardOutput = try FileHandle(forWritingTo: files.appending(path: "out"))
    process.standardError = process.standardOutput
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOf: files.appending(path: "out"), encoding: .utf8)
    return (process.terminationStatus, text)
  }
}
