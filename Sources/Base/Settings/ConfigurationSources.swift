import Foundation
import JSONCoding

/// The values of a configuration, from its file, environment variables and command-line flags. The
/// origin of each value is known.
///
/// ```swift
/// var sources = try ConfigurationSources(fileAt: ".petrel/server.json")
/// try sources.read(environment: ProcessInfo.processInfo.environment)
/// sources.set(["port"], to: 9000, by: .flag("--port"))
/// var configuration = ServerConfiguration(dataDirectory: ".petrel")
/// try sources.apply(to: &configuration)
/// ```
///
/// A value from a later call replaces the value from an earlier call. So in this example variables
/// replace values of the file, and flags replace both.
public struct ConfigurationSources: Sendable {
  /// The origin of a value.
  public enum Origin: Sendable, Hashable, CustomStringConvertible {
    /// The path of a file, and the line of the key in it, from 1.
    case file(String, line: Int)
    /// An environment variable, by its name.
    case variable(String)
    /// A command-line flag, by its name.
    case flag(String)

    public var description: String {
      switch self {
      case .file(let path, let line): "\(path):\(line)"
      case .variable(let name): name
      case .flag(let name): name
      }
    }
  }

  /// All values, in the structure of a configuration file.
  package private(set) var json = JSONValue.object([:])
  /// The origins of the values. The key is a path: the names of the keys that lead to the value,
  /// from the outermost one.
  private var origins: [[String]: Origin] = [:]
  /// The absolute path of the folder to which relative file names refer.
  public let directory: String
  /// The path of the configuration file; `nil` if there is none.
  public private(set) var file: String?

  /// Creates an empty configuration without a file.
  ///
  /// - Parameter directory: the folder to which relative file names refer.
  public init(directory: String) {
    self.directory = URL(fileURLWithPath: directory).path
  }

  private init(file: String) {
    directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
    self.file = file
  }

  /// Reads a configuration file. Relative file names refer to the folder of this file.
  ///
  /// - Throws: ``ConfigurationError`` when the file cannot be read or is not a JSON object.
  public init(fileAt path: String) throws(ConfigurationError) {
    self.init(file: path)
    let data: Data
    do {
      data = try InputFile.contents(of: path)
    } catch {
      throw ConfigurationError("configuration file \(path) cannot be read: \(error.reason)")
    }
    do {
      json = try JSONValue(parsing: data)
    } catch {
      throw ConfigurationError("configuration file \(path): \(error.description(in: data))")
    }
    guard json.object != nil else {
      throw ConfigurationError("\(path): must be an object, not \(json.kind)")
    }
    origins = JSONLines(data).lines.mapValues { .file(path, line: $0) }
  }

  /// Sets the value of a key and replaces the present value, if there is one. A key with the value
  /// `.null` counts as missing.
  ///
  /// - Parameter path: the names of the keys, from the outermost one.
  public mutating func set(_ path: [String], to value: JSONValue, by origin: Origin) {
    json = Self.setting(value, at: path[...], in: json)
    for known in origins.keys where known.starts(with: path) { origins[known] = nil }
    origins[path] = origin
  }

  /// Returns `json` with another value at a path. Creates the objects of the path that are missing.
  private static func setting(
    _ value: JSONValue, at path: ArraySlice<String>, in json: JSONValue
  ) -> JSONValue {
    guard let name = path.first else { return value }
    var members = json.object ?? [:]
    members[name] = setting(value, at: path.dropFirst(), in: members[name] ?? .object([:]))
    return .object(members)
  }

  package mutating func remove(_ path: [String]) {
    json = Self.removing(path[...], from: json)
    for known in origins.keys where known.starts(with: path) { origins[known] = nil }
  }

  private static func removing(_ path: ArraySlice<String>, from json: JSONValue) -> JSONValue {
    guard let name = path.first, var members = json.object else { return json }
    members[name] =
      path.count == 1 ? nil : members[name].map { removing(path.dropFirst(), from: $0) }
    return .object(members)
  }

  /// Returns the value at a path; `nil` if it is missing or null.
  package func value(at path: [String]) -> JSONValue? {
    path.reduce(json) { json, name in json?[name] }
  }

  /// Returns the origin of a key's value. If it is unknown, returns the origin of the innermost
  /// object around the key that has one. `nil` if no source has a value.
  package func origin(of path: [String]) -> Origin? {
    for count in stride(from: path.count, to: 0, by: -1) {
      if let origin = origins[Array(path.prefix(count))] { return origin }
    }
    return nil
  }

  /// Returns the beginning of a message about a key, such as `server.json:12: `.
  package func place(of path: [String]) -> String {
    (origin(of: path).map { "\($0)" } ?? file ?? "the configuration") + ": "
  }

  /// Returns the path of a file: `name` itself if it is absolute, otherwise the path of `name` in
  /// ``directory``.
  public func file(_ name: String) -> String {
    name.hasPrefix("/") ? name : directory + "/" + name
  }
}
