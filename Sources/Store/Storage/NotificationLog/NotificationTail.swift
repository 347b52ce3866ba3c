import StoreModel
import Synchronization

/// The newest entries of the notification log that are not yet in its index by subscriber.
///
/// Consecutive entries belong to unrelated subscribers, so each would change another page of the
/// index. Here they wait in memory. When there are enough, a run of the index is made of them in
/// the order of subscribers, a part with each commit. They stay in memory until the run is
/// complete.
///
/// The tail need not be durable: after a crash, unfiled entries are read from the log again, from
/// the sequences in `unfiled_notifications` on. Only the writer's thread changes it, after commits.
/// Readers on other threads read it; a mutex guards its state.
///
/// Waiting entries have a generation, a number that rises when a run is begun. So at most two
/// generations are unfiled: the one whose run is being made, and the one that waits.
final class NotificationTail: Sendable {
  /// The changes of one transaction to the tail, applied after its commit.
  struct Change {
    /// The entries that were logged and not filed.
    var added: [NotificationIndexRow] = []
    /// The databases whose first entry of the generation is in ``added``.
    var marked: [DatabaseID] = []
    /// The run that was begun with all waiting entries.
    var begun: Int64?
    /// The number of subscribers whose entries were filed in the current run.
    var filedSubscribers = 0
    /// Whether the current run is complete.
    var isWhole = false
    /// The run into which others are merged from now on.
    var merging: Int64?
    /// Whether the merge under way has ended.
    var endsMerging = false
  }

  /// A run that is being made of all entries that waited when it was begun.
  struct Filing {
    /// The number of the run.
    let run: Int64
    /// The generation of its entries.
    let generation: Int64
    /// The entries by subscriber.
    fileprivate let entries: [String: [NotificationIndexRow]]
    /// The subscribers, sorted: the order of filing.
    fileprivate let subscribers: [String]
    /// The number of subscribers whose entries are in the run.
    fileprivate var filedSubscribers = 0

    /// Returns the entries of the next subscribers: at least `count`, unless they are the last. The
    /// entries of one subscriber stay together.
    func next(_ count: Int) -> (rows: [NotificationIndexRow], subscribers: Int, isLast: Bool) {
      var rows: [NotificationIndexRow] = []
      var taken = 0
      for subscriber in subscribers[filedSubscribers...] {
        if rows.count >= count { break }
        rows += (entries[subscriber] ?? []).sorted {
          ($0.database, $0.sequence) < ($1.database, $1.sequence)
        }
        taken += 1
      }
      return (rows, taken, filedSubscribers + taken == subscribers.count)
    }
  }

  /// The state that the mutex guards.
  private struct State {
    /// The entries that wait for the next run, by subscriber.
    var waiting: [String: [NotificationIndexRow]] = [:]
    /// The number of waiting entries.
    var waitingCount = 0
    /// The databases in `unfiled_notifications` for this generation.
    var marked: Set<DatabaseID> = []
    /// The generation of the waiting entries.
    var generation: Int64
    /// The run that is being made.
    var filing: Filing?
    /// The run into which others are being merged.
    var merging: Int64?
    /// The number of completed runs. Each completion removes entries from the tail, after which
    /// only the index has them.
    var wholeRuns = 0
  }

  private let state: Mutex<State>
  /// The number of waiting entries at which a run is begun.
  let capacity: Int

  /// Creates the tail that an earlier process left.
  ///
  /// - Parameters:
  ///   - capacity: the number of waiting entries at which a run is begun.
  ///   - rows: the entries of all generations that are in no run.
  ///   - marked: the databases that are stored as having such entries.
  ///   - generation: the latest generation.
  ///   - merging: the run into which others are being merged.
  init(
    capacity: Int, rows: [NotificationIndexRow], marked: Set<DatabaseID>, generation: Int64,
    merging: Int64?
  ) {
    self.capacity = capacity
    state = Mutex(
      State(
        waiting: Dictionary(grouping: rows, by: \.subscriber), waitingCount: rows.count,
        marked: marked, generation: generation, merging: merging))
  }

  /// The number of entries in memory.
  var count: Int {
    state.withLock {
      $0.waitingCount + ($0.filing?.entries.values.reduce(0) { $0 + $1.count } ?? 0)
    }
  }

  /// The number of runs completed since the store was opened. It changes when entries leave the
  /// tail.
  var wholeRuns: Int { state.withLock { $0.wholeRuns } }

  /// Returns a subscriber's entries. A run that is being made may have some of them too.
  ///
  /// - Parameter wholeRuns: the value of ``wholeRuns`` before the reader's transaction began.
  /// - Returns: nil if entries have left since. The transaction's snapshot of the index may not
  ///   have those.
  func rows(of subscriber: String, since wholeRuns: Int) -> [NotificationIndexRow]? {
    state.withLock { state in
      guard state.wholeRuns == wholeRuns else { return nil }
      return (state.filing?.entries[subscriber] ?? []) + (state.waiting[subscriber] ?? [])
    }
  }

  // MARK: For the writer's thread

  /// The run that is being made; nil if there is none.
  var filing: Filing? { state.withLock { $0.filing } }
  /// The run into which others are being merged; nil if there is none.
  var merging: Int64? { state.withLock { $0.merging } }
  /// The number of entries that wait for the next run.
  var waitingCount: Int { state.withLock { $0.waitingCount } }
  /// The generation of the waiting entries.
  var generation: Int64 { state.withLock { $0.generation } }

  /// Returns whether entries of this generation or an earlier one wait or are being filed.
  func hasUnfiled(through generation: Int64) -> Bool {
    state.withLock { state in
      if let filing = state.filing, filing.generation <= generation { return true }
      return state.generation <= generation && state.waitingCount > 0
    }
  }

  /// Returns whether `unfiled_notifications` has a row of the database for the waiting generation.
  func isMarked(_ database: DatabaseID) -> Bool {
    state.withLock { $0.marked.contains(database) }
  }

  /// Applies the changes of a committed transaction.
  func apply(_ change: Change) {
    let begun = change.begun.map { begin($0) }
    state.withLock { state in
      if let begun {
        state.filing = begun
        state.waiting = [:]
        state.waitingCount = 0
        state.marked = []
        state.generation += 1
      }
      for row in change.added { state.waiting[row.subscriber, default: []].append(row) }
      state.waitingCount += change.added.count
      state.marked.formUnion(change.marked)
      state.filing?.filedSubscribers += change.filedSubscribers
      if change.isWhole {
        state.filing = nil
        state.wholeRuns += 1
      }
      if change.endsMerging { state.merging = nil }
      if let merging = change.merging { state.merging = merging }
    }
  }

  /// Returns the filing of all waiting entries, in order. They are sorted outside of the lock, so
  /// that others can read meanwhile.
  private func begin(_ run: Int64) -> Filing {
    let (waiting, generation) = state.withLock { ($0.waiting, $0.generation) }
    return Filing(
      run: run, generation: generation, entries: waiting, subscribers: waiting.keys.sorted())
  }
}
