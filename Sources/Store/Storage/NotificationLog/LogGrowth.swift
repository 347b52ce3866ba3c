import StoreModel
import Synchronization

/// The growth of users' logs in each database since the last trimming. By it, a transaction of the
/// dispatcher trims logs that grow fast, before the next maintenance does.
///
/// The hash of a user and a database selects one of 65,536 counters. A shared counter leads only
/// to a look at a log that need not be trimmed. A lock protects the counters.
final class LogGrowth: Sendable {
  /// An amount of entries.
  struct Amount: Sendable, Hashable {
    var entries = 0
    var bytes = 0

    static func += (amount: inout Amount, other: Amount) {
      amount.entries += other.entries
      amount.bytes += other.bytes
    }
  }

  private static let size = 1 << 16

  /// Guarded by the lock.
  private struct State {
    var counters = [Amount](repeating: Amount(), count: LogGrowth.size)
    var grown: Set<UserOfDatabase> = []
  }

  private let state = Mutex(State())
  let slack: Amount

  /// A log may exceed `limits` by a sixteenth, and by 64 entries or 256 KiB at least.
  init(_ limits: NotificationLogLimits) {
    slack = Amount(
      entries: max(64, limits.entries / 16), bytes: max(256 << 10, limits.bytes / 16))
  }

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

  /// The next call does not return them again until their logs have grown further.
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
