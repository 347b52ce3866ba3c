import CommandInterface
import Foundation

/// Where the admin key comes from. Never from the words of a command, which others on the machine
/// can see.
enum AdminKeySource {
  struct Key: Sendable {
    var text: String
    /// Where it was found, for messages.
    var origin: String
  }

  /// Bytes of a key file at most; a key has 64.
  private static let fileLimit = 4096

  /// The key that `--key-file`, PETREL_ADMIN_KEY or PETREL_ADMIN_KEY_FILE names; nil where none does.
  ///
  /// - Throws: ``UsageError`` for a file that cannot be read or holds no key.
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

  private static func key(inFile file: String) throws -> Key {
    guard let handle = FileHandle(forReadingAtPath: file),
      // A file that cannot be read has no key, which the error says.
      let data = try? handle.read(upToCount: fileLimit)
    else { throw UsageError("the key file '\(file)' cannot be read, or is empty") }
    // Without attributes nothing is known to be wrong with them.
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    if let mode = attributes?[.posixPermissions] as? NSNumber, mode.intValue & 0o004 != 0 {
      Output.complain(
        "everybody on this machine can read the key file '\(file)'; chmod 600 keeps it for you")
    }
    return Key(
      text: try checked(String(decoding: data, as: UTF8.self), from: "the key file '\(file)'"),
      origin: file)
  }

  /// A key has no spaces and line breaks in it: they would end up in a header.
  private static func checked(_ text: String, from origin: String) throws -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let isKey = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isKey, !text.isEmpty else {
      throw UsageError(
        "\(origin) holds no admin key, which is one line that 'petrel keys add-admin-key' prints")
    }
    return text
  }
}
