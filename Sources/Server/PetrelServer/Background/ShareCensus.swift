import Storage
import StoreModel
import Synchronization

/// The numbers of shares and participants for metrics, which a background job counts.
///
/// A count reads all shares and participants. The next one begins a minute later, or after 50 times
/// the duration of the last one. So counting takes at most 2 percent of the time of one reader, and
/// the metrics read no table.
final class ShareCensus: Sendable {
  /// The minimum time between two counts.
  static let pause = Duration.seconds(60)
  /// The minimum time between two counts, as a multiple of the duration of the last count.
  private static let share = 50

  private let store: ShareAdministrationService
  private let latest = Mutex<ShareCounts?>(nil)

  init(store: ShareAdministrationService) {
    self.store = store
  }

  /// The latest counts; nil before the first count has ended.
  var counts: ShareCounts? { latest.withLock { $0 } }

  /// Counts once, and returns the pause before the next count. After a failure the former counts stay.
  func count() async throws -> Duration {
    let began = ContinuousClock.now
    let counts = try await store.counts()
    latest.withLock { $0 = counts }
    return max(Self.pause, (.now - began) * Self.share)
  }
}
