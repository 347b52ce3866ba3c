import CloudKitModel
import Logging
import Storage
import StoreModel

/// The background work that deletes users.
///
/// The store contains the deletions and their progress. The deleter continues where an earlier
/// process stopped. A deleter without work searches the store for new deletions of other processes
/// every ``idleTime``.
struct UserDeleter: Sendable {
  /// The time between two searches for work when there was none, or when a deletion waits for the
  /// dispatcher.
  static let idleTime = Duration.seconds(1)
  /// The time between two steps, so that clients' saves can run.
  static let pause = Duration.milliseconds(2)

  /// The store's maintenance operations, which do one step at a time.
  let maintenance: MaintenanceService
  let log: ServerLog
  let clock: @Sendable () -> Timestamp

  /// Works until the task is cancelled. After a failure, the method waits for a minute and tries
  /// again.
  func run() async {
    while !Task.isCancelled {
      do {
        let deletion = try await maintenance.continueUserDeletion(at: clock())
        switch deletion?.state {
        case .working?:
          try await Task.sleep(for: Self.pause)
        case .finished?:
          log.info("a user was deleted", ["rows": .int(Int64(deletion?.done ?? 0))])
        case .waiting?, nil:
          try await Task.sleep(for: Self.idleTime)
        }
      } catch {
        // After a cancellation the store may be closed, which is no fault.
        guard !Task.isCancelled else { return }
        log.error(
          "the deletion of a user failed; the server tries again in a minute",
          ["cause": .string("\(error)")])
        // A cancellation ends the sleep, and then the loop.
        try? await Task.sleep(for: .seconds(60))
      }
    }
  }
}
