import CommandInterface
import Foundation
import JSONCoding
import Settings

/// The JSON input of a command, from a file or standard input.
enum JSONFile {
  /// Reads a file; `-` stands for standard input.
  ///
  /// - Throws: `InputFile.Failure` if the file cannot be read, `UsageError` if the input is no JSON.
  static func read(_ file: String) throws -> JSONValue {
    let data =
      file == "-"
      ? try FileHandle.standardInput.readToEnd() ?? Data() : try InputFile.contents(of: file)
    let name = file == "-" ? "standard input" : file
    do throws(JSONError) {
      return try JSONValue(parsing: data)
    } catch {
      throw UsageError("\(name) is not JSON: \(error)")
    }
  }
}
