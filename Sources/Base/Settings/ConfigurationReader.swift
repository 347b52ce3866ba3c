import Foundation
import JSONCoding
import Spelling

/// An object of a configuration, with its place.
package struct ConfigurationReader {
  let json: JSONValue
  private let sources: ConfigurationSources
  private let path: [String]

  package init(_ sources: ConfigurationSources, path: [String]) {
    self.sources = sources
    self.path = path
    json = sources.value(at: path) ?? .null
  }

  package var keys: [String] { (json.object ?? [:]).keys.sorted() }

  /// - Parameter key: the one of the object's keys that it is about; nil for the object.
  package func mistake(_ key: String?, _ text: String) -> ConfigurationError {
    let full = path + (key.map { [$0] } ?? [])
    return ConfigurationError(
      sources.place(of: full) + path.map { $0 + ": " }.joined() + text, at: .key(full))
  }

  /// Reads all settings of a table.
  ///
  /// - Throws: ``ConfigurationError`` about the first mistake. Unknown keys are mistakes.
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

  /// The value of a key, if it is there; of a path, from where it begins.
  ///
  /// - Throws: ``ConfigurationError`` when it is not allowed, or missing.
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

  package func object(_ key: String) throws(ConfigurationError) -> ConfigurationReader? {
    guard let value = json[key] else { return nil }
    guard value.object != nil else {
      throw mistake(key, "'\(key)' must be an object, not \(value.kind)")
    }
    return ConfigurationReader(sources, path: path + [key])
  }
}

/// What rules ask for. The kinds of the settings have been checked before.
extension ConfigurationReader {
  package func has(_ key: String) -> Bool { json[key] != nil }

  package func text(_ key: String) -> String? { json[key]?.string }

  package func required(_ key: String) throws(ConfigurationError) -> String {
    guard let text = text(key), !text.isEmpty else { throw mistake(key, "'\(key)' is missing") }
    return text
  }

  /// The file that a key names.
  package func file(_ key: String) -> String? { text(key).map(sources.file) }

  /// What the file has that a key names.
  ///
  /// - Throws: ``ConfigurationError`` when it cannot be read.
  package func contents(_ key: String) throws(ConfigurationError) -> String? {
    guard let file = file(key) else { return nil }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw mistake(key, "'\(key)': \(file) cannot be read")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// The same without spaces and line breaks around it.
  package func trimmedContents(_ key: String) throws(ConfigurationError) -> String? {
    try contents(key)?.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The value of a key or, instead of it, of a file, with the key that it comes from.
  ///
  /// - Throws: ``ConfigurationError`` when there are both, or the file cannot be read.
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
