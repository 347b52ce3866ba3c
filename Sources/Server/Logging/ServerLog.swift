import CloudKitModel
import Foundation
import JSONCoding

/// Where the server writes what an operator should know.
///
/// ```swift
/// log.info("request failed", ["uuid": .string(uuid), "status": .int(400)])
/// ```
public struct ServerLog: Sendable {
  /// How much an entry matters, rising.
  public enum Level: String, Sendable, CaseIterable, Comparable {
    /// Each request, for those who look for a fault.
    case debug
    case info
    case warning
    case error

    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .warning: 2
      case .error: 3
      }
    }
  }

  /// How entries are written; each is one line.
  public enum Format: String, Sendable, CaseIterable {
    /// Time, level, message, and fields as `name=value`.
    case text
    /// A JSON object with `time`, `level`, `message` and the fields.
    case json
  }

  /// One thing that happened.
  public struct Entry: Sendable {
    public var level: Level
    public var message: String
    /// In the order in which they are shown.
    public var fields: [(name: String, value: JSONValue)]
  }

  public typealias Fields = KeyValuePairs<String, JSONValue>

  /// Entries that matter less are dropped.
  public let level: Level
  private let write: @Sendable (Entry) -> Void

  public init(level: Level = .info, entries write: @escaping @Sendable (Entry) -> Void) {
    self.level = level
    self.write = write
  }

  /// A log of lines in text form, without the time.
  public init(level: Level = .info, _ write: @escaping @Sendable (Level, String) -> Void) {
    self.init(level: level, entries: { write($0.level, $0.text) })
  }

  /// Lines on standard error.
  public static func standardError(level: Level = .info, format: Format = .text) -> ServerLog {
    ServerLog(
      level: level,
      entries: { entry in
        let line = entry.line(format, at: .now)
        FileHandle.standardError.write(Data((line + "\n").utf8))
      })
  }

  /// Drops everything.
  public static let silent = ServerLog(level: .error, entries: { _ in })

  public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> Fields) {
    guard level <= .debug else { return }
    add(.debug, message(), fields().map { ($0.key, $0.value) })
  }

  public func info(_ message: String, _ fields: Fields = [:]) { add(.info, message, fields) }
  public func warning(_ message: String, _ fields: Fields = [:]) { add(.warning, message, fields) }
  public func error(_ message: String, _ fields: Fields = [:]) { add(.error, message, fields) }

  func add(_ level: Level, _ message: String, _ fields: Fields) {
    add(level, message, fields.map { ($0.key, $0.value) })
  }

  package func add(_ level: Level, _ message: String, _ fields: [(name: String, value: JSONValue)])
  {
    guard level >= self.level else { return }
    write(Entry(level: level, message: message, fields: fields))
  }
}

extension ServerLog.Entry {
  /// The entry as a line, without its line break.
  func line(_ format: ServerLog.Format, at time: Timestamp) -> String {
    switch format {
    case .text: return "\(time.date.formatted(.iso8601)) \(level.rawValue) \(text)"
    case .json:
      let members =
        [
          ("time", JSONValue.string(time.iso8601)), ("level", .string(level.rawValue)),
          ("message", .string(message)),
        ] + fields.map { ($0.name, $0.value) }
      return "{"
        + members.map { "\(JSONValue.string($0.0).text):\($0.1.text)" }.joined(separator: ",") + "}"
    }
  }

  /// The message and the fields.
  var text: String {
    guard !fields.isEmpty else { return Self.oneLine(message) }
    let pairs = fields.map { "\($0.name)=\(Self.word($0.value))" }
    return Self.oneLine(message) + ": " + pairs.joined(separator: " ")
  }

  /// A value as it is, or in quotes where it would not be told from what is beside it.
  private static func word(_ value: JSONValue) -> String {
    guard let string = value.string else { return value.text }
    let isPlain = !string.isEmpty && string.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 }
    return isPlain ? string : value.text
  }

  /// What others wrote may not look like an entry of its own.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
