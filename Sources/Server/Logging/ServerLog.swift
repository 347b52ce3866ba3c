import CloudKitModel
import Foundation
import Glibc
import JSONCoding

/// The log of the server: messages for the operator, each with a level and named fields.
///
/// A log contains a closure that writes entries. The closure may run on any thread, and on several
/// threads at once.
///
/// ```swift
/// log.info("request failed", ["uuid": .string(uuid), "status": .int(400)])
/// ```
public struct ServerLog: Sendable {
  /// The severity of an entry. A greater level is more severe.
  public enum Level: String, Sendable, CaseIterable, Comparable {
    /// Details of each request, for a person who searches for a fault.
    case debug
    /// A normal event.
    case info
    /// An unexpected event that the server handles by itself.
    case warning
    /// An event that needs the operator's attention.
    case error

    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

    /// The position of the level in the order, from 0.
    private var rank: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .warning: 2
      case .error: 3
      }
    }
  }

  /// The format of entries. Each entry is one line.
  public enum Format: String, Sendable, CaseIterable {
    /// The time, the level, the message, and the fields as `name=value`.
    case text
    /// A JSON object with the members `time`, `level` and `message`, and one for each field.
    case json
  }

  /// A message with its level and fields.
  public struct Entry: Sendable {
    /// The severity.
    public var level: Level
    /// The message, without the fields' values.
    public var message: String
    /// The fields in the order of the output.
    public var fields: [(name: String, value: JSONValue)]
  }

  /// The fields of an entry, as a dictionary literal in the order of the output.
  public typealias Fields = KeyValuePairs<String, JSONValue>

  /// The lowest level that the log writes. Entries with a lower level are discarded.
  public let level: Level
  /// Writes an entry that has passed the check of its level.
  private let write: @Sendable (Entry) -> Void
  /// The output of the lines; nil for a log that passes entries to a closure.
  private let output: LogOutput?

  /// Creates a log that passes entries to a closure.
  public init(level: Level = .info, entries write: @escaping @Sendable (Entry) -> Void) {
    self.level = level
    self.write = write
    output = nil
  }

  init(level: Level, format: Format, to output: LogOutput) {
    self.level = level
    self.output = output
    write = { entry in
      output.write(entry.line(format, at: .now)) { lost in
        Entry(
          level: .warning, message: "lines of the log were lost, because they could not be written",
          fields: [("lines", .int(Int64(lost)))]
        ).line(format, at: .now)
      }
    }
  }

  /// Creates a log that passes the level of each entry and its text line to a closure. The line
  /// contains neither the time nor the level.
  public init(level: Level = .info, _ write: @escaping @Sendable (Level, String) -> Void) {
    self.init(level: level, entries: { write($0.level, $0.text) })
  }

  /// Returns a log that writes lines to standard error. A line that cannot be written is lost, and
  /// ``linesLost`` counts it.
  ///
  /// The process ignores SIGPIPE from then on. Otherwise the first line would end it after the
  /// reader of a pipe is gone.
  public static func standardError(level: Level = .info, format: Format = .text) -> ServerLog {
    signal(SIGPIPE, SIG_IGN)
    return ServerLog(level: level, format: format, to: LogOutput(descriptor: STDERR_FILENO))
  }

  /// The number of lines that could not be written, since the log was created.
  package var linesLost: Int { output?.linesLost ?? 0 }

  /// The log that discards all entries.
  public static let silent = ServerLog(level: .error, entries: { _ in })

  /// Writes an entry that helps a person who searches for a fault. The arguments are evaluated only
  /// if the log writes the entry.
  public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> Fields) {
    guard level <= .debug else { return }
    add(.debug, message(), fields().map { ($0.key, $0.value) })
  }

  /// Writes an entry about a normal event.
  public func info(_ message: String, _ fields: Fields = [:]) { add(.info, message, fields) }
  /// Writes an entry about an event that the server handles by itself.
  public func warning(_ message: String, _ fields: Fields = [:]) { add(.warning, message, fields) }
  /// Writes an entry about an event that needs the operator's attention.
  public func error(_ message: String, _ fields: Fields = [:]) { add(.error, message, fields) }

  /// Writes an entry if its level is high enough.
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
  /// Returns the entry as a line without a line break.
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

  /// The message and the fields in the text format.
  var text: String {
    guard !fields.isEmpty else { return Self.oneLine(message) }
    let pairs = fields.map { "\($0.name)=\(Self.word($0.value))" }
    return Self.oneLine(message) + ": " + pairs.joined(separator: " ")
  }

  /// Returns a field's value for the text format. A text is quoted as JSON if it is empty, or
  /// contains a space, a control character or a quotation mark.
  private static func word(_ value: JSONValue) -> String {
    guard let string = value.string else { return value.text }
    let isPlain = !string.isEmpty && string.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 }
    return isPlain ? string : value.text
  }

  /// Returns a message with spaces in place of line breaks. A message may contain text of clients,
  /// and a part of this text must not look like a separate entry.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
