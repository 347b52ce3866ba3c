import CloudKitModel
import Synchronization

/// The machine's clock, which a test may set forward.
final class CloudClock: Sendable {
  private let seconds = Mutex(0.0)

  @Sendable func read() -> Timestamp {
    Timestamp.now.advanced(bySeconds: seconds.withLock(\.self))
  }

  func advance(bySeconds seconds: Double) {
    self.seconds.withLock { $0 += seconds }
  }
}
