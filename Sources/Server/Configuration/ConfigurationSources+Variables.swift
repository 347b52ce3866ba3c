import Foundation
import JSONCoding
import Settings
import Spelling

/// Environment variables stand for keys: `PETREL_` and the key in upper case, `__` where an object is
/// entered, and single underscores wherever they please.
///
///     PETREL_PORT                                       port
///     PETREL_LIMITS__REQUEST_RATES__USER__PER_SECOND    limits.requestRates.user.perSecond
///     PETREL_CONTAINERS__ICLOUD_COM_EXAMPLE_APP__APNS__KEY_ID
///
/// Names of the operator's own, as of containers, must stand in the file; other characters than
/// letters and digits are underscores. A variable for an object has it as JSON, and replaces all of it.
extension ConfigurationSources {
  private static let prefix = "PETREL_"

  /// What other programs of the house, and commands of this one, read.
  static let others: Set<String> = [
    "PETREL_DATA", "PETREL_CONFIG", "PETREL_SERVER", "PETREL_TOKEN", "PETREL_API_TOKEN",
    "PETREL_ADMIN_KEY", "PETREL_ADMIN_KEY_FILE", "PETREL_CONTAINER", "PETREL_ENVIRONMENT",
    "PETREL_DEVICE", "PETREL_STATE", "PETREL_PROPERTY_SEEDS",
  ]
  /// What the tests go by, and with them the servers that they start.
  private static let testPrefix = prefix + "TEST_"

  /// Puts the values of variables over those there are. One that is empty counts as not set.
  ///
  /// - Throws: ``ConfigurationError`` naming a variable that stands for no key, or whose value cannot
  ///   be.
  public mutating func read(environment: [String: String]) throws(ConfigurationError) {
    let variables = environment.filter {
      $0.key.hasPrefix(Self.prefix) && !$0.key.hasPrefix(Self.testPrefix) && !$0.value.isEmpty
        && !Self.others.contains($0.key)
    }
    // Whole objects first: single keys go over them.
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

  private static func parts(of variable: String) -> [String] {
    variable.dropFirst(prefix.count).components(separatedBy: "__")
  }

  /// Letters and digits alone, by which names are compared.
  private static func core(_ name: String) -> String {
    String(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  /// The variable for a key, as documented.
  static func variable(for path: [String]) -> String {
    prefix
      + path.map { words(of: $0).joined(separator: "_").uppercased() }.joined(separator: "__")
  }

  /// The words that a name consists of, in lower case: of `publicURL` `public` and `url`.
  static func words(of name: String) -> [String] {
    name.replacing(/([a-z])([A-Z])/) { "\($0.output.1)_\($0.output.2)" }.lowercased()
      .split(omittingEmptySubsequences: false) { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

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
        "\(variable): no key of the configuration has it; "
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
        "\(variable): '\(path.joined(separator: "."))' is no object; the variable for it is "
          + Self.variable(for: path))
    }
  }
}
