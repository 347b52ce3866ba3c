import CloudKitModel
import SQLEngine
import Synchronization

/// The offset of the engine's clock from this machine's.
///
/// Servers that share a store decide by the store's clock only, so that their own clocks do not
/// matter.
final class StoreClock: Sendable {
  /// The offset in milliseconds; positive if the engine's clock is ahead.
  private let milliseconds = Mutex(Int64(0))

  /// The seconds by which the engine's clock is ahead.
  var offset: Double { Double(milliseconds.withLock { $0 }) / 1_000 }

  /// Compares the clocks, as precisely as one round trip permits.
  ///
  /// The engine's time is compared with the middle of the round trip. So the error is at most half
  /// of the round trip.
  func follow(_ connection: any SQLConnection) throws {
    let before = Timestamp.now.milliseconds
    let time = try connection.first("SELECT \(Self.expression)", []) { $0.integer(0) }
    let after = Timestamp.now.milliseconds
    guard let time else { return }
    milliseconds.withLock { $0 = time - (before + after) / 2 }
  }

  /// The SQL expression for PostgreSQL's time when a statement reached it, in milliseconds since
  /// 1970.
  ///
  /// The time is the same everywhere in the statement, as a distributed store needs. It is before
  /// the time of any commit. A server that waited for its row thus assumes too early a time rather
  /// than too late a one.
  static let expression = "(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::int8"
}
