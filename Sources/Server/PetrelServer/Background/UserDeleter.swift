import CloudKitModel
import Logging
import Storage
import StoreModel

/// Deletes users, one step at a time.
///
/// The store contains the deletions and their progress. The deleter continues where an earlier
/// process stopped. A deleter without work searches the store for new deletions of other processes
/// every ``idleTime``.
struct UserDeleter: Sendable {
  /// The time between two searches for work when there was none, or when a deletion waits for the
  /// dispatcher.
  static let idleTime = Duration.seconds(1)
  /// The time between two steps, so that clients' saves can run.
  private static let pause = Duration.milliseconds(2)

  let maintenance: MaintenanceService
  let log: ServerLog
  let clock: @Sendable () -> Timestamp

  /// Does one step, and returns the pause before the next one; nil if there is no work.
  func step() async throws -> Duration? {
    let deletion = try await maintenance.continueUserDeletion(at: clock())
    switch deletion?.state {
    case .working?: return Self.pause
    case .finished?:
      log.info("a user was deleted", ["rows": .int(Int64(deletion?.done ?? 0))])
      return .zero
    case .waiting?, nil: return nil
    }
  }
}
