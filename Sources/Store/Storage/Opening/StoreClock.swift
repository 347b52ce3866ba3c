import CloudKitModel
import SQLEngine
import Synchronization

/// How far the clock of the store's engine is ahead of this machine's.
///
/// Servers that share a store take all times that decide anything from its clock, so that it does not
/// matter how their own are set.
final class StoreClock: Sendable {
  private let milliseconds = Mutex(Int64(0))

  /// In seconds.
  var offset: Double { Double(milliseconds.withLock { $0 }) / 1_000 }

  /// Compares the clocks, as good as one round trip allows.
  func follow(_ connection: any SQLConnection) throws {
    let before = Timestamp.now.milliseconds
    let time = try connection.first("SELECT \(Self.expression)", []) { $0.integer(0) }
    let after = Timestamp.now.milliseconds
    guard let time else { return }
    milliseconds.withLock { $0 = time - (before + after) / 2 }
  }

  /// The time of PostgreSQL when a statement reached it, in milliseconds. It is the same wherever in the
  /// statement it stands, as a store on several nodes needs it, and before the time of any commit: a
  /// server that waited for its row rather thinks too little of its time than too much.
  static let expression = "(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::int8"
}
