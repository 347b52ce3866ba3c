import CloudKitModel
import SQLEngine
import Synchronization

/// The difference between PostgreSQL's clock and this machine's clock.
///
/// Servers that share a store compare times by PostgreSQL's clock only. So a wrong clock of a
/// server does no harm.
final class StoreClock: Sendable {
  private let milliseconds = Mutex(Int64(0))

  /// In seconds, positive if PostgreSQL's clock is ahead; 0 before the first comparison.
  var offset: Double { Double(milliseconds.withLock { $0 }) / 1_000 }

  /// The error is at most half of the statement's duration.
  func follow(_ connection: any SQLConnection) throws {
    let before = Timestamp.now.milliseconds
    let time = try connection.integer("SELECT \(Self.expression)", [])
    let after = Timestamp.now.milliseconds
    guard let time else { return }
    milliseconds.withLock { $0 = time - (before + after) / 2 }
  }

  /// The time at which a statement reached PostgreSQL, in milliseconds since 1970. It is the same
  /// everywhere in the statement, as a distributed store needs. If the statement waits for a lock,
  /// it is earlier than the present time, never later.
  static let expression = "(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::int8"
}
