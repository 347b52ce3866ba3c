import Foundation
import JSONCoding
import Spelling

/// A reader of one object of a configuration. It knows where each value comes from, so its errors
/// name the file and line, the variable or the flag.
package struct ConfigurationReader {
  /// The object; null if the configuration has no value at the path.
  let json: JSONValue
  private let sources: ConfigurationSources
  /// The names of the keys that lead to the object, from the outermost one.
  private let path: [String]

  package init(_ sources: ConfigurationSources, path: [String]) {
    self.sources = sources
    self.path = path
    json = sources.value(at: path) ?? .null
  }

  package var keys: [String] { (json.object ?? [:]).keys.sorted() }

  /// Returns an error about a key of this object; about the object itself if `key` is `nil`.
  package func mistake(_ key: String?, _ text: String) -> ConfigurationError {
    let full = path + (key.map { [$0] } ?? [])
    return ConfigurationError(
      sources.place(of: full) + path.map { $0 + ": " }.joined() + text, at: .key(full))
  }

  /// Reads the values of a table's settings into the properties of `root`, then runs the table's
  /// rules.
  ///
  /// - Throws: ``ConfigurationError`` about the first mistake. An unknown key is a mistake. `root`
  ///   may then be changed in part.
  package func apply<Root>(
    _ table: SettingTable<Root>, to root: inout Root
  ) throws(ConfigurationError) {
    guard json.object != nil else {
      throw mistake(nil, "must be an object, not \(json.kind)")
    }
    let known = table.keys.map(\.name)
    for key in keys where !known.contains(key) {
      let near = NearestWord.among(known, to: key).map { "did you mean '\($0)'? " } ?? ""
      throw mistake(
        key, "unknown key '\(key)'; \(near)known are \(known.joined(separator: ", "))")
    }
    for setting in table.settings { try setting.read(self, &root) }
    try table.rules(self, &root)
  }

  /// Returns the value of a key; `nil` if it is missing or null. The name of a file or folder is
  /// returned as a path (``ConfigurationSources/file(_:)``).
  ///
  /// - Throws: ``ConfigurationError`` when the value is not allowed, or when the key is required
  ///   and its value is missing, null or empty.
  package func value(of key: ConfigurationKey) throws(ConfigurationError) -> JSONValue? {
    guard let value = json[key.name], !(key.isRequired && value.string == "") else {
      if key.isRequired { throw mistake(key.name, "'\(key.name)' is missing") }
      return nil
    }
    if let complaint = key.kind.complaint(about: value) {
      throw mistake(key.name, "'\(key.name)' \(complaint)")
    }
    return key.kind.isPath ? value.string.map { .string(sources.file($0)) } : value
  }

  /// Returns a reader of the object that a key contains; `nil` if the key is missing or null.
  package func object(_ key: String) throws(ConfigurationError) -> ConfigurationReader? {
    guard let value = json[key] else { return nil }
    guard value.object != nil else {
      throw mistake(key, "'\(key)' must be an object, not \(value.kind)")
    }
    return ConfigurationReader(sources, path: path + [key])
  }
}

/// The methods for ``SettingTable/rules``. The rules run after all settings were read, so all
/// values are of the kinds that the table allows.
extension ConfigurationReader {
  /// Whether the object has the key with a value other than null.
  package func has(_ key: String) -> Bool { json[key] != nil }

  package func text(_ key: String) -> String? { json[key]?.string }

  /// Returns the text of a key, which must not be missing or empty.
  package func required(_ key: String) throws(ConfigurationError) -> String {
    guard let text = text(key), !text.isEmpty else { throw mistake(key, "'\(key)' is missing") }
    return text
  }

  package func file(_ key: String) -> String? { text(key).map(sources.file) }

  /// Returns the contents of the file that a key names; `nil` if the key is missing.
  package func contents(_ key: String) throws(ConfigurationError) -> String? {
    guard let file = file(key) else { return nil }
    do {
      return String(decoding: try InputFile.contents(of: file), as: UTF8.self)
    } catch {
      throw mistake(key, "'\(key)': \(file) cannot be read: \(error.reason)")
    }
  }

  /// Returns ``contents(_:)`` without white space around them.
  package func trimmedContents(_ key: String) throws(ConfigurationError) -> String? {
    try contents(key)?.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns a text that is either the value of `key` or in the file that `fileKey` names, with the
  /// key that was used. White space around the contents of the file is removed. Returns `nil` if
  /// both keys are missing.
  ///
  /// - Throws: ``ConfigurationError`` when both keys have a value, or the file cannot be read.
  package func text(
    _ key: String, orIn fileKey: String
  ) throws(ConfigurationError) -> (text: String, key: String)? {
    guard has(fileKey) else { return text(key).map { ($0, key) } }
    guard !has(key) else {
      throw mistake(fileKey, "'\(fileKey)' and '\(key)' exclude each other")
    }
    return try trimmedContents(fileKey).map { ($0, fileKey) }
  }
}
