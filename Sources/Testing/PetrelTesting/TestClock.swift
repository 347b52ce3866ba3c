internal import CloudKitModel
import Foundation
internal import PetrelServer
internal import Synchronization

/// The clock of a ``TestCloud``. Its time does not change until a test advances it.
///
/// These things follow the clock: creation and modification dates, the retention of notifications
/// and of the marks of deleted records, the lifetime of tokens, and the delay before a push is sent
/// again. The waits of the client follow real time: timeouts, and the pause before an operation is
/// retried.
///
/// ```swift
/// try await database.save(old)
/// await cloud.clock.advance(by: .seconds(60))
/// try await database.save(new)  // modified a minute later
/// ```
public struct TestClock: Sendable {
  /// The present time of the cloud, which all copies of the clock share. A lock protects the time.
  final class Face: Sendable {
    private let shown: Mutex<Timestamp>

    /// Creates a clock face that shows a date, rounded to whole milliseconds.
    init(_ date: Date) {
      shown = Mutex(Timestamp(date))
    }

    var now: Timestamp { shown.withLock { $0 } }

    func advance(bySeconds seconds: Double) {
      shown.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }
  }

  let face: Face
  let service: CloudService

  /// The present time of the cloud, in whole milliseconds.
  public var now: Date { face.now.date }

  /// Moves the clock forward, and does the work that becomes due.
  ///
  /// When the call returns, the cloud has deleted the contents whose retention time is over. Pushes
  /// whose next attempt is due are under way; ``TestCloud/settle()`` waits for them.
  ///
  /// - Parameter duration: the time to add. A negative duration ends the process.
  public func advance(by duration: Duration) async {
    precondition(duration >= .zero, "a clock cannot be advanced by a negative duration")
    face.advance(bySeconds: duration / .seconds(1))
    await service.followClock()
  }
}
