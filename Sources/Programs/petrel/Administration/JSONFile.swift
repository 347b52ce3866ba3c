import CommandInterface
import Foundation
import JSONCoding

/// The JSON input of a command, from a file or standard input.
enum JSONFile {
  /// Reads a file; `-` stands for standard input.
  ///
  /// - Throws: `UsageError` if the input cannot be read or is no JSON.
  static func read(_ file: String) throws -> JSONValue {
    let data =
      file == "-"
      ? try FileHandle.standardInput.readToEnd() ?? Data()
      : FileManager.default.contents(atPath: file)
    let name = file == "-" ? "standard input" : file
    guard let data else { throw UsageError("cannot read \(name)") }
    do throws(JSONError) {
      return try JSONValue(parsing: data)
    } catch {
      throw UsageError("\(name) is not JSON: \(error)")
    }
  }
}
