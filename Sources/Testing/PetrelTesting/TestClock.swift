internal import CloudKitModel
import Foundation
internal import PetrelServer
internal import Synchronization

/// The time of a ``TestCloud``: it stands still until a test moves it on.
///
/// Creation and modification dates, the retention of notifications and tombstones, the life of
/// tokens and the delay before a push is sent again go by it. What the client does by itself (the
/// pause before an operation tries again, timeouts) goes by real time.
///
/// ```swift
/// try await database.save(old)
/// await cloud.clock.advance(by: .seconds(60))
/// try await database.save(new)  // modified a minute later
/// ```
public struct TestClock: Sendable {
  /// The moment that the cloud's clock shows.
  final class Face: Sendable {
    private let shown: Mutex<Timestamp>

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

  /// The time in the cloud, in whole milliseconds.
  public var now: Date { face.now.date }

  /// Moves the clock on and does what has come due.
  ///
  /// What is beyond its retention is gone when this returns. Pushes that wait for another attempt
  /// are under way then: ``TestCloud/settle()`` waits for them.
  ///
  /// - Parameter duration: not negative, for time does not run backwards.
  public func advance(by duration: Duration) async {
    precondition(duration >= .zero, "a clock is advanced by a duration that is not negative")
    face.advance(bySeconds: duration / .seconds(1))
    await service.followClock()
  }
}
