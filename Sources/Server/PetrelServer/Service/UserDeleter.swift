import CloudKitModel
import Logging
import StoreModel

/// Goes on with the deletions of users while the server runs.
///
/// How far they are stands in the store: this process goes on where an earlier one ended, and deletions
/// that another process began are found within ``idleTime``.
struct UserDeleter: Sendable {
  /// Between looks for work when there was none, or when it waits for the dispatcher.
  static let idleTime = Duration.seconds(1)
  /// Between steps, so that those who save have their turn.
  static let pause = Duration.milliseconds(2)

  let maintenance: any Maintenance
  let log: ServerLog
  let clock: @Sendable () -> Timestamp

  /// Works until the task is cancelled.
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
        // Who stops the service may close the store at once.
        guard !Task.isCancelled else { return }
        log.error(
          "the deletion of a user cannot go on; it is tried again in a minute",
          ["cause": .string("\(error)")])
        // It throws when the task is cancelled, which the loop looks at.
        try? await Task.sleep(for: .seconds(60))
      }
    }
  }
}
