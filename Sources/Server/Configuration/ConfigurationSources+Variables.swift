import Foundation
import JSONCoding
import Settings
import Spelling

/// The values from environment variables.
///
/// A variable's name is `PETREL_` and the key's name in upper case. Two underscores separate an
/// object from a key in it. Single underscores and the case of letters are ignored.
///
///     PETREL_PORT                                       port
///     PETREL_LIMITS__REQUEST_RATES__USER__PER_SECOND    limits.requestRates.user.perSecond
///     PETREL_CONTAINERS__ICLOUD_COM_EXAMPLE_APP__APNS__KEY_ID
///
/// The names of containers and issuers, which the operator chooses, must exist in the file. A
/// variable's name contains an underscore in place of each character of such a name that is neither
/// a letter nor a digit. If a variable stands for an object, its value is JSON and replaces the
/// whole object.
extension ConfigurationSources {
  private static let prefix = "PETREL_"

  /// The variables with the prefix that belong to no key. Other programs of the project and other
  /// commands of this program read these variables.
  static let others: Set<String> = [
    "PETREL_DATA", "PETREL_CONFIG", "PETREL_SERVER", "PETREL_TOKEN", "PETREL_API_TOKEN",
    "PETREL_ADMIN_KEY", "PETREL_ADMIN_KEY_FILE", "PETREL_CONTAINER", "PETREL_ENVIRONMENT",
    "PETREL_DEVICE", "PETREL_STATE", "PETREL_PROPERTY_SEEDS",
  ]
  /// The prefix of variables that control the tests. Servers that tests start inherit these
  /// variables.
  private static let testPrefix = prefix + "TEST_"

  /// Sets values from environment variables, which replace present values. An empty variable counts
  /// as missing.
  ///
  /// - Throws: `ConfigurationError` with the name of the first variable that belongs to no key, or
  ///   that has an invalid value. Earlier variables are set.
  public mutating func read(environment: [String: String]) throws(ConfigurationError) {
    let variables = environment.filter {
      $0.key.hasPrefix(Self.prefix) && !$0.key.hasPrefix(Self.testPrefix) && !$0.value.isEmpty
        && !Self.others.contains($0.key)
    }
    // Variables for whole objects come first. Variables for single keys then replace values in
    // these objects.
    let sorted = variables.map { ($0.key, Self.parts(of: $0.key), $0.value) }
      .sorted { ($0.1.count, $0.0) < ($1.1.count, $1.0) }
    for (name, parts, text) in sorted {
      do throws(ConfigurationError) {
        let (path, kind) = try find(parts[...], among: ConfigurationKey.all, at: [], variable: name)
        guard let value = kind.value(ofText: text) else {
          let isObject = kind.keys != nil
          throw ConfigurationError(
            "\(name): \(isObject ? "must be a JSON object" : kind.rule), not '\(text)'")
        }
        set(path, to: value, by: .variable(name))
      } catch {
        throw ConfigurationError(error.description, at: .variable(name))
      }
    }
  }

  /// Returns the parts of a variable's name without the prefix, one for each level of objects.
  private static func parts(of variable: String) -> [String] {
    variable.dropFirst(prefix.count).components(separatedBy: "__")
  }

  /// Returns the letters and digits of a name in lower case. Two names with the same result belong
  /// to the same key.
  private static func core(_ name: String) -> String {
    String(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  /// Returns the name of the variable for a key, as the documentation writes it.
  static func variable(for path: [String]) -> String {
    prefix
      + path.map { words(of: $0).joined(separator: "_").uppercased() }.joined(separator: "__")
  }

  /// Returns the words of a name in lower case, such as `public` and `url` for `publicURL`.
  static func words(of name: String) -> [String] {
    name.replacing(/([a-z])([A-Z])/) { "\($0.output.1)_\($0.output.2)" }.lowercased()
      .split(omittingEmptySubsequences: false) { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Returns the path and kind of the key that a variable sets. Throws an error if there is none,
  /// or if the name continues after a key that is no object. The file must have the containers and
  /// issuers in the name.
  private func find(
    _ parts: ArraySlice<String>, among keys: [ConfigurationKey], at path: [String],
    variable: String
  ) throws(ConfigurationError) -> (path: [String], kind: SettingKind) {
    guard let part = parts.first,
      let key = keys.first(where: { Self.core($0.name) == Self.core(part) })
    else {
      let known = keys.map { Self.variable(for: path + [$0.name]) }
      let near = NearestWord.among(known, to: variable).map { "did you mean \($0)? " } ?? ""
      throw ConfigurationError(
        "\(variable): the configuration has no key for it; "
          + "\(near)known are \(known.joined(separator: ", "))")
    }
    let path = path + [key.name]
    let rest = parts.dropFirst()
    if rest.isEmpty { return (path, key.kind) }
    switch key.kind {
    case .object(let keys):
      return try find(rest, among: keys, at: path, variable: variable)
    case .named(let keys):
      let names = (value(at: path)?.object ?? [:]).keys.sorted()
      guard let part = rest.first,
        let name = names.first(where: { Self.core($0) == Self.core(part) })
      else {
        throw ConfigurationError(
          "\(variable): the file has no '\(path.joined(separator: "."))' of this name; give all of "
            + "them as JSON in \(Self.variable(for: path))")
      }
      let more = rest.dropFirst()
      if more.isEmpty { return (path + [name], .object(keys)) }
      return try find(more, among: keys, at: path + [name], variable: variable)
    default:
      throw ConfigurationError(
        "\(variable): '\(path.joined(separator: "."))' is not an object; its variable is "
          + Self.variable(for: path))
    }
  }
}
