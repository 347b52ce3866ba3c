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
final class NotificationTail: Sendable {
  /// The changes of one transaction to the tail, applied after its commit.
  struct Change {
    /// Entries that were logged and not filed.
    var added: [NotificationIndexRow] = []
    /// Databases whose first entry of the generation is in ``added``.
    var marked: [DatabaseID] = []
    /// The run that was begun with all waiting entries.
    var begun: Int64?
    /// The number of subscribers whose entries were filed in the current run.
    var filedSubscribers = 0
    /// Whether the current run is complete.
    var isWhole = false
    /// The run into which others are merged from now on.
    var merging: Int64?
    var endsMerging = false
  }

  /// A run that is being made.
  struct Filing {
    let run: Int64
    let generation: Int64
    fileprivate let entries: [String: [NotificationIndexRow]]
    /// Sorted.
    fileprivate let subscribers: [String]
    fileprivate var filedSubscribers = 0

    /// The entries of the next subscribers: at least `count`, unless they are the last.
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

  private struct State {
    var waiting: [String: [NotificationIndexRow]] = [:]
    var waitingCount = 0
    /// The databases in `unfiled_notifications` for this generation.
    var marked: Set<DatabaseID> = []
    var generation: Int64
    var filing: Filing?
    var merging: Int64?
    /// The number of completed runs. Each completion removes entries from the tail, after which
    /// only the index has them.
    var wholeRuns = 0
  }

  private let state: Mutex<State>
  /// The number of waiting entries at which a run is begun.
  let capacity: Int

  /// - Parameters:
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

  /// Changes when entries leave the tail.
  var wholeRuns: Int { state.withLock { $0.wholeRuns } }

  /// A subscriber's entries. A run that is being made may have some of them too.
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

  var filing: Filing? { state.withLock { $0.filing } }
  var merging: Int64? { state.withLock { $0.merging } }
  var waitingCount: Int { state.withLock { $0.waitingCount } }
  var generation: Int64 { state.withLock { $0.generation } }

  /// Whether entries of this generation or an earlier one wait or are being filed.
  func hasUnfiled(through generation: Int64) -> Bool {
    state.withLock { state in
      if let filing = state.filing, filing.generation <= generation { return true }
      return state.generation <= generation && state.waitingCount > 0
    }
  }

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

  /// The waiting entries in order. They are sorted outside of the lock, so that others can read
  /// meanwhile.
  private func begin(_ run: Int64) -> Filing {
    let (waiting, generation) = state.withLock { ($0.waiting, $0.generation) }
    return Filing(
      run: run, generation: generation, entries: waiting, subscribers: waiting.keys.sorted())
  }
}
