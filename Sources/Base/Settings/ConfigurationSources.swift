import Foundation
import JSONCoding

/// What a configuration is put together from: a file, environment variables over it, and flags over
/// those; and where each value came from.
///
/// ```swift
/// var sources = ConfigurationSources(directory: ".petrel")
/// try sources.read(fileAt: ".petrel/server.json")
/// try sources.read(environment: ProcessInfo.processInfo.environment)
/// sources.set(["port"], to: 9000, by: .flag("--port"))
/// var configuration = ServerConfiguration(dataDirectory: ".petrel")
/// try sources.apply(to: &configuration)
/// ```
public struct ConfigurationSources: Sendable {
  /// Where a value came from.
  public enum Origin: Sendable, Hashable, CustomStringConvertible {
    case file(String, line: Int)
    case variable(String)
    case flag(String)

    public var description: String {
      switch self {
      case .file(let path, let line): "\(path):\(line)"
      case .variable(let name): name
      case .flag(let name): name
      }
    }
  }

  /// All values, as they would stand in one file.
  package private(set) var json = JSONValue.object([:])
  private var origins: [[String]: Origin] = [:]
  /// Where relative file names begin.
  public let directory: String
  /// The file, if there is one.
  public private(set) var file: String?

  /// - Parameter directory: where relative file names begin when there is no file; with one, they
  ///   begin at the file's own.
  public init(directory: String) {
    self.directory = URL(fileURLWithPath: directory).path
  }

  private init(file: String) {
    directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
    self.file = file
  }

  /// The values of a configuration file.
  ///
  /// - Throws: ``ConfigurationError`` when it cannot be read or is no JSON.
  public init(fileAt path: String) throws(ConfigurationError) {
    self.init(file: path)
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ConfigurationError("configuration file \(path) cannot be read")
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

  /// Gives a key a value, over what there was. `.null` takes it away.
  ///
  /// - Parameter path: the names on the way to the key.
  public mutating func set(_ path: [String], to value: JSONValue, by origin: Origin) {
    json = Self.setting(value, at: path[...], in: json)
    for known in origins.keys where known.starts(with: path) { origins[known] = nil }
    origins[path] = origin
  }

  private static func setting(
    _ value: JSONValue, at path: ArraySlice<String>, in json: JSONValue
  ) -> JSONValue {
    guard let name = path.first else { return value }
    var members = json.object ?? [:]
    members[name] = setting(value, at: path.dropFirst(), in: members[name] ?? .object([:]))
    return .object(members)
  }

  /// Takes a key away.
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

  package func value(at path: [String]) -> JSONValue? {
    path.reduce(json) { json, name in json?[name] }
  }

  /// Where the value of a key, or of what it is in, came from; nil for a default.
  package func origin(of path: [String]) -> Origin? {
    for count in stride(from: path.count, to: 0, by: -1) {
      if let origin = origins[Array(path.prefix(count))] { return origin }
    }
    return nil
  }

  /// What messages about a key begin with.
  package func place(of path: [String]) -> String {
    (origin(of: path).map { "\($0)" } ?? file ?? "the configuration") + ": "
  }

  /// The file of this name, from the configuration's directory unless it is absolute.
  public func file(_ name: String) -> String {
    name.hasPrefix("/") ? name : directory + "/" + name
  }
}
