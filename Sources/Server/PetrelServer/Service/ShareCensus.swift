import Logging
import Storage
import StoreModel
import Synchronization

/// The numbers of shares and participants for metrics, which a background task counts.
///
/// A count reads all shares and participants. The next one begins a minute later, or after 50 times
/// the duration of the last one. So counting takes at most 2 percent of the time of one reader, and
/// the metrics read no table.
final class ShareCensus: Sendable {
  /// The minimum time between two counts.
  private static let pause = Duration.seconds(60)
  /// The minimum time between two counts, as a multiple of the duration of the last count.
  private static let share = 50

  private let store: ShareAdministrationService
  private let log: ServerLog
  private let latest = Mutex<ShareCounts?>(nil)

  /// Creates a census without counts.
  init(store: ShareAdministrationService, log: ServerLog) {
    self.store = store
    self.log = log
  }

  /// The latest counts; nil before the first count has ended.
  var counts: ShareCounts? { latest.withLock { $0 } }

  /// Counts until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      let began = ContinuousClock.now
      await count()
      // A cancellation ends the sleep, and then the loop.
      try? await Task.sleep(for: max(Self.pause, (ContinuousClock.now - began) * Self.share))
    }
  }

  /// Counts once. After a failure the former counts stay.
  func count() async {
    do {
      let counts = try await store.counts()
      latest.withLock { $0 = counts }
    } catch {
      // After a cancellation the store may be closed, which is no fault.
      guard !Task.isCancelled else { return }
      log.error("shares cannot be counted for metrics", ["cause": .string("\(error)")])
    }
  }
}
