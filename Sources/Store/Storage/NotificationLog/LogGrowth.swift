import StoreModel
import Synchronization

/// The growth of users' notification logs in each database since each was last trimmed. It decides
/// which logs a transaction of the dispatcher trims, so that a log that is written fast does not grow
/// until the next maintenance.
///
/// There are 65,536 counters. The hash of a user and a database selects a counter, so several users
/// may share one. A shared counter leads only to a look at a log that need not be trimmed.
///
/// A lock protects the counters.
final class LogGrowth: Sendable {
  /// Entries of a log.
  struct Amount: Sendable, Hashable {
    var entries = 0
    /// The bytes of the entries' contents.
    var bytes = 0

    static func += (amount: inout Amount, other: Amount) {
      amount.entries += other.entries
      amount.bytes += other.bytes
    }
  }

  /// The number of counters: a power of two, so that a mask selects one.
  private static let size = 1 << 16

  /// The values that the lock protects.
  private struct State {
    var counters = [Amount](repeating: Amount(), count: LogGrowth.size)
    /// The users whose logs have grown enough.
    var grown: Set<UserOfDatabase> = []
  }

  private let state = Mutex(State())
  /// The growth at which a log is looked at.
  let slack: Amount

  /// Creates counters of 0.
  ///
  /// - Parameter limits: the limits of a log. A log may exceed them by a sixteenth, and by 64 entries
  ///   or 256 KiB at least.
  init(_ limits: NotificationLogLimits) {
    slack = Amount(
      entries: max(64, limits.entries / 16), bytes: max(256 << 10, limits.bytes / 16))
  }

  /// Adds the entries that a transaction has written.
  func note(_ grown: [(user: UserOfDatabase, by: Amount)]) {
    state.withLock { state in
      for (user, amount) in grown {
        // Each process seeds its hashes, so a user cannot choose with whom to share a counter.
        let place = user.hashValue & (Self.size - 1)
        state.counters[place] += amount
        let counter = state.counters[place]
        guard counter.entries > slack.entries || counter.bytes > slack.bytes else { continue }
        state.counters[place] = Amount()
        state.grown.insert(user)
      }
    }
  }

  /// Returns the subscribers of these changes whose logs have grown enough, each once. The next call
  /// does not return them again until their logs have grown further.
  func takeGrown(among changes: [PreparedChange]) -> Set<UserOfDatabase> {
    state.withLock { state in
      if state.grown.isEmpty { return [] }
      var taken: Set<UserOfDatabase> = []
      for change in changes {
        for element in change.notifications.elements {
          let user = UserOfDatabase(
            userRecordName: element.subscriber, database: change.entry.database)
          if state.grown.remove(user) != nil { taken.insert(user) }
        }
      }
      return taken
    }
  }
}
