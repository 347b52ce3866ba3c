import StoreModel
import Synchronization

/// The newest entries of the notification log, as far as its index by subscriber does not have them.
///
/// Entries come from everywhere, so that each would change a page of the index by itself. Here they
/// wait for each other in memory. When they are enough, a run of the index is made of them in
/// the order of subscribers, a part with each commit; they stay here until the run is whole.
///
/// Nothing here need be durable: what is not filed when a process ends is read from the log again, from
/// where `unfiled_notifications` tells. The writer's thread alone changes it, after commits.
final class NotificationTail: Sendable {
  /// What a transaction did, to be kept in mind when it is committed.
  struct Change {
    /// Entries that were logged and not filed.
    var added: [NotificationIndexRow] = []
    /// Databases that ``added`` is the first of in its generation.
    var marked: [DatabaseID] = []
    /// The run that was begun for all that waited before.
    var begun: Int64?
    /// Subscribers whose entries were filed in it.
    var filedSubscribers = 0
    /// Whether the run is whole.
    var isWhole = false
    /// The run that others are merged into from now on.
    var merging: Int64?
    var endsMerging = false
  }

  /// A run that is being made.
  struct Filing {
    let run: Int64
    let generation: Int64
    fileprivate let entries: [String: [NotificationIndexRow]]
    /// In order.
    fileprivate let subscribers: [String]
    fileprivate var filedSubscribers = 0

    /// The entries of the next subscribers, at least so many unless they are the last.
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
    /// The databases that `unfiled_notifications` has in this generation.
    var marked: Set<DatabaseID> = []
    var generation: Int64
    var filing: Filing?
    var merging: Int64?
    /// How many runs became whole: what was here before may be in the index only.
    var wholeRuns = 0
  }

  private let state: Mutex<State>
  /// So many entries wait before a run is begun.
  let capacity: Int

  /// - Parameters:
  ///   - rows: those that are in no run, of all generations.
  ///   - marked: the databases that are known to have such.
  ///   - generation: the latest.
  ///   - merging: the run that others are being merged into.
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

  /// Entries in memory.
  var count: Int {
    state.withLock {
      $0.waitingCount + ($0.filing?.entries.values.reduce(0) { $0 + $1.count } ?? 0)
    }
  }

  /// Changes when entries leave.
  var wholeRuns: Int { state.withLock { $0.wholeRuns } }

  /// A subscriber's entries, of which a run that is being made may have some too.
  ///
  /// - Parameter wholeRuns: what ``wholeRuns`` was before the reader's transaction began.
  /// - Returns: nil when some have left since, so that the transaction may find them nowhere.
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

  /// Whether entries of this generation or of one before it wait or are being filed.
  func hasUnfiled(through generation: Int64) -> Bool {
    state.withLock { state in
      if let filing = state.filing, filing.generation <= generation { return true }
      return state.generation <= generation && state.waitingCount > 0
    }
  }

  func isMarked(_ database: DatabaseID) -> Bool {
    state.withLock { $0.marked.contains(database) }
  }

  /// Takes in what a committed transaction did.
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

  /// What waits, in order. Sorting takes a while, in which others may read.
  private func begin(_ run: Int64) -> Filing {
    let (waiting, generation) = state.withLock { ($0.waiting, $0.generation) }
    return Filing(
      run: run, generation: generation, entries: waiting, subscribers: waiting.keys.sorted())
  }
}
