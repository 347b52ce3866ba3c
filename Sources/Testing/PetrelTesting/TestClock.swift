internal import CloudKitModel
import Foundation
internal import PetrelServer
internal import Synchronization

/// The clock of a ``TestCloud``. It stands still until a test advances it.
///
/// These follow the clock: creation and modification dates, the retention of notifications and
/// tombstones, the lifetime of tokens, and the delay before a push is sent again. The client's own
/// waits follow real time: timeouts, and the pause before an operation is retried.
///
/// ```swift
/// try await database.save(old)
/// await cloud.clock.advance(by: .seconds(60))
/// try await database.save(new)  // modified a minute later
/// ```
public struct TestClock: Sendable {
  /// The present time of the cloud, which all copies of the clock share. A lock protects it.
  final class Face: Sendable {
    private let shown: Mutex<Timestamp>

    /// Starts at a date, in whole milliseconds.
    init(_ date: Date) {
      shown = Mutex(Timestamp(date))
    }

    /// The present time.
    var now: Timestamp { shown.withLock { $0 } }

    /// Moves the time forward.
    func advance(bySeconds seconds: Double) {
      shown.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }
  }

  /// The shared time.
  let face: Face
  /// The cloud's service, which does the work that is due.
  let service: CloudService

  /// The time in the cloud, in whole milliseconds.
  public var now: Date { face.now.date }

  /// Moves the clock forward, and does the work that is due then.
  ///
  /// When the call returns, the cloud has deleted contents that have passed their retention. Pushes
  /// that waited for another attempt are under way: ``TestCloud/settle()`` waits for them.
  ///
  /// - Parameter duration: not negative; a negative duration ends the process.
  public func advance(by duration: Duration) async {
    precondition(duration >= .zero, "a clock cannot be advanced by a negative duration")
    face.advance(bySeconds: duration / .seconds(1))
    await service.followClock()
  }
}
