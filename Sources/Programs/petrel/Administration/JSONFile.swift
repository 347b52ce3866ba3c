import CommandInterface
import Foundation
import JSONCoding

/// JSON that a command is given.
enum JSONFile {
  /// Reads a file; `-` is standard input.
  ///
  /// - Throws: ``UsageError`` for one that cannot be read or is no JSON.
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
      throw UsageError("\(name) is no JSON: \(error)")
    }
  }
}
