import Foundation

struct ToolFailure: Error {
  var output: String
}

/// Runs the openssl command and returns what it printed.
@discardableResult
func run(_ arguments: [String]) throws -> String {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/openssl")
  process.arguments = arguments
  let output = Pipe()
  process.standardOutput = output
  process.standardError = FileHandle.nullDevice
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let data = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  let text = String(decoding: data, as: UTF8.self)
  guard process.terminationStatus == 0 else { throw ToolFailure(output: text) }
  return text
}

@discardableResult
func run(_ arguments: String...) throws -> String {
  try run(arguments)
}
