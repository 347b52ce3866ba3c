import CloudKitModel
import Foundation

/// Where the server writes what an operator should know.
public struct ServerLog: Sendable {
  public enum Level: String, Sendable {
    case info
    case warning
    case error
  }

  private let write: @Sendable (Level, String) -> Void

  public init(_ write: @escaping @Sendable (Level, String) -> Void) {
    self.write = write
  }

  /// Lines on standard error with time and level.
  public static let standardError = ServerLog { level, message in
    let time = Timestamp.now.date.formatted(.iso8601)
    FileHandle.standardError.write(Data("\(time) \(level.rawValue) \(message)\n".utf8))
  }

  /// Drops everything.
  public static let silent = ServerLog { _, _ in }

  public func info(_ message: String) { write(.info, message) }
  public func warning(_ message: String) { write(.warning, message) }
  public func error(_ message: String) { write(.error, message) }
}
