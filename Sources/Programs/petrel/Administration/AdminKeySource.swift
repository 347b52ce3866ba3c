import CommandInterface
import Foundation
import Settings

/// The source of the admin key: a file or an environment variable. There is no option with the key
/// itself, because other users of the machine can read the arguments of a process.
enum AdminKeySource {
  /// An admin key with its source.
  struct Key: Sendable {
    var text: String
    var origin: String
  }

  /// The most bytes that are read from a key file. A key has 64 bytes.
  private static let fileLimit = 4096

  /// Returns the key from the first source that is set: the option `--key-file`, the variable
  /// `PETREL_ADMIN_KEY`, the variable `PETREL_ADMIN_KEY_FILE`. Empty variables count as not set.
  /// Returns `nil` if no source is set.
  ///
  /// - Throws: `InputFile.Failure` if a file cannot be read, `UsageError` if it contains no key.
  static func key(_ arguments: Arguments) throws -> Key? {
    let environment = ProcessInfo.processInfo.environment
    if let file = arguments.string("key-file") { return try key(inFile: file) }
    if let text = environment["PETREL_ADMIN_KEY"], !text.isEmpty {
      return Key(text: try checked(text, from: "PETREL_ADMIN_KEY"), origin: "PETREL_ADMIN_KEY")
    }
    if let file = environment["PETREL_ADMIN_KEY_FILE"], !file.isEmpty {
      return try key(inFile: file)
    }
    return nil
  }

  /// Returns the key in a file, and prints a warning if every user of the machine can read the
  /// file.
  private static func key(inFile file: String) throws -> Key {
    let data = try InputFile.open(file).read(upToCount: fileLimit) ?? Data()
    // If the attributes cannot be read, there is no warning.
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    if let mode = attributes?[.posixPermissions] as? NSNumber, mode.intValue & 0o004 != 0 {
      Output.complain(
        "every user of this machine can read the key file '\(file)'; protect it with chmod 600")
    }
    return Key(
      text: try checked(String(decoding: data, as: UTF8.self), from: "the key file '\(file)'"),
      origin: file)
  }

  /// Returns the key without white space at its ends. A key has only visible ASCII characters,
  /// because it is sent in an HTTP header field.
  ///
  /// - Throws: `UsageError` if the text is empty or has other characters.
  private static func checked(_ text: String, from origin: String) throws -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let isKey = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isKey, !text.isEmpty else {
      throw UsageError(
        "\(origin) does not contain an admin key, the line that 'petrel keys add-admin-key' prints")
    }
    return text
  }
}
