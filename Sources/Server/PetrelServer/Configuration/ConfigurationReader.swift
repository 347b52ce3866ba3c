import JSONCoding
import Spelling

/// An object of a configuration, with its place.
struct ConfigurationReader {
  let json: JSONValue
  private let sources: ConfigurationSources
  private let path: [String]

  init(_ sources: ConfigurationSources, path: [String]) {
    self.sources = sources
    self.path = path
    json = sources.value(at: path) ?? .null
  }

  var keys: [String] { (json.object ?? [:]).keys.sorted() }

  /// - Parameter key: the one of the object's keys that it is about; nil for the object.
  func mistake(_ key: String?, _ text: String) -> ConfigurationError {
    let full = path + (key.map { [$0] } ?? [])
    return ConfigurationError(
      sources.place(of: full) + path.map { $0 + ": " }.joined() + text, at: .key(full))
  }

  func allow(_ known: [String]) throws(ConfigurationError) {
    guard let members = json.object else {
      throw mistake(nil, "must be an object, not \(json.kind)")
    }
    for key in members.keys.sorted() where !known.contains(key) {
      let near = NearestWord.among(known, to: key).map { "did you mean '\($0)'? " } ?? ""
      throw mistake(
        key, "unknown key '\(key)'; \(near)known are \(known.joined(separator: ", "))")
    }
  }

  func string(_ key: String) throws(ConfigurationError) -> String? {
    guard let value = json[key] else { return nil }
    guard let string = value.string else {
      throw mistake(key, "'\(key)' must be a string, not \(value.kind)")
    }
    return string
  }

  func required(_ key: String) throws(ConfigurationError) -> String {
    guard let string = try string(key), !string.isEmpty else {
      throw mistake(key, "'\(key)' is missing")
    }
    return string
  }

  /// One of some words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String
  ) throws(ConfigurationError) -> Choice? {
    guard let word = try string(key) else { return nil }
    guard let choice = Choice(rawValue: word) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw mistake(key, "'\(key)' must be one of \(known), not '\(word)'")
    }
    return choice
  }

  func bool(_ key: String) throws(ConfigurationError) -> Bool? {
    guard let value = json[key] else { return nil }
    guard let bool = value.bool else {
      throw mistake(key, "'\(key)' must be true or false, not \(value.kind)")
    }
    return bool
  }

  func int(_ key: String, in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int? {
    guard let value = json[key] else { return nil }
    guard let int = value.int, range.contains(int) else {
      throw mistake(
        key, "'\(key)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(int)
  }

  func object(_ key: String) throws(ConfigurationError) -> ConfigurationReader? {
    guard let value = json[key] else { return nil }
    guard value.object != nil else {
      throw mistake(key, "'\(key)' must be an object, not \(value.kind)")
    }
    return ConfigurationReader(sources, path: path + [key])
  }

  /// The file of this name, from the configuration's directory unless it is absolute.
  func file(_ name: String) -> String {
    name.hasPrefix("/") ? name : sources.directory + "/" + name
  }
}
