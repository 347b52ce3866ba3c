import StoreModel
import Synchronization

/// The entries of the notification log that wait in memory for its index by subscriber
/// (``NotificationIndexTable``).
///
/// Consecutive entries belong to unrelated subscribers, so each would change another page of the
/// index. When enough entries wait, a *run* is begun. Each commit then *files* some of them: it
/// inserts their rows into the run in the order of subscribers. The entries stay in the tail until
/// the run is complete.
///
/// A crash loses nothing: the next process reads the entries from the log again, from each
/// database's first unfiled entry in `unfiled_notifications` on.
///
/// The entries that wait for the same run are a *generation*. Its number rises when a run is begun.
/// So at most two generations are in the tail: one whose run is being made, and one that waits.
///
/// Only the writing thread changes the tail, after commits. Reading threads read it; a mutex guards
/// the state.
final class NotificationTail: Sendable {
  /// The changes of one transaction, which ``NotificationTail/apply(_:)`` makes after the commit.
  struct Change {
    var added: [NotificationIndexRow] = []
    var marked: [DatabaseID] = []
    var begun: Int64?
    var filedSubscribers = 0
    var isWhole = false
    /// The run into which other runs are merged from now on.
    var merging: Int64?
    var endsMerging = false
  }

  /// A run that is being made, with the entries that waited when the run was begun.
  struct Filing {
    let run: Int64
    let generation: Int64
    fileprivate let entries: [String: [NotificationIndexRow]]
    fileprivate let subscribers: [String]
    fileprivate var filedSubscribers = 0

    /// With all entries of each subscriber, at least `count` if as many are left.
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

  /// Guarded by the mutex.
  private struct State {
    var waiting: [String: [NotificationIndexRow]] = [:]
    var waitingCount = 0
    var waitingBytes = 0
    /// The databases with a row in `unfiled_notifications` for ``generation``.
    var marked: Set<DatabaseID> = []
    var generation: Int64
    var filing: Filing?
    var merging: Int64?
    /// The runs completed since the store was opened. The tail drops the entries of a complete
    /// run: only the index has them then.
    var wholeRuns = 0
  }

  private let state: Mutex<State>
  let capacity: Int
  /// The bytes of waiting contents at which a run is begun. The log cannot be trimmed of entries
  /// that wait.
  private static let byteCapacity = 32 << 20

  /// - Parameters:
  /// - rows: the entries that are in no run, in the order of their numbers in each database.
  /// - generation: the latest in `unfiled_notifications`; 1 if the table is empty.
  init(
    capacity: Int, rows: [NotificationIndexRow], marked: Set<DatabaseID>, generation: Int64,
    merging: Int64?
  ) {
    self.capacity = capacity
    state = Mutex(
      State(
        waiting: Dictionary(grouping: rows, by: \.subscriber), waitingCount: rows.count,
        waitingBytes: rows.reduce(0) { $0 + $1.bytes }, marked: marked, generation: generation,
        merging: merging))
  }

  var count: Int {
    state.withLock {
      $0.waitingCount + ($0.filing?.entries.values.reduce(0) { $0 + $1.count } ?? 0)
    }
  }

  var wholeRuns: Int { state.withLock { $0.wholeRuns } }

  /// A subscriber's entries, some of which the current run may have.
  ///
  /// - Parameter wholeRuns: ``wholeRuns`` before the reader's transaction began.
  /// - Returns: nil if a run was completed since: the tail has then dropped entries that the
  ///   transaction's snapshot of the index may not have.
  func rows(of subscriber: String, since wholeRuns: Int) -> [NotificationIndexRow]? {
    state.withLock { state in
      guard state.wholeRuns == wholeRuns else { return nil }
      return (state.filing?.entries[subscriber] ?? []) + (state.waiting[subscriber] ?? [])
    }
  }

  /// In order.
  func rows(
    of subscriber: String, in database: DatabaseID, after sequence: Int64, since wholeRuns: Int
  ) -> [NotificationIndexRow]? {
    state.withLock { state in
      guard state.wholeRuns == wholeRuns else { return nil }
      return [state.filing?.entries[subscriber], state.waiting[subscriber]].flatMap {
        $0?.latest(in: database, after: sequence) ?? []
      }
    }
  }

  // MARK: For the writer's thread

  var filing: Filing? { state.withLock { $0.filing } }
  var merging: Int64? { state.withLock { $0.merging } }
  var waitingCount: Int { state.withLock { $0.waitingCount } }
  var isFull: Bool {
    state.withLock { $0.waitingCount >= capacity || $0.waitingBytes >= Self.byteCapacity }
  }
  var generation: Int64 { state.withLock { $0.generation } }

  func hasUnfiled(through generation: Int64) -> Bool {
    state.withLock { state in
      if let filing = state.filing, filing.generation <= generation { return true }
      return state.generation <= generation && state.waitingCount > 0
    }
  }

  func isMarked(_ database: DatabaseID) -> Bool {
    state.withLock { $0.marked.contains(database) }
  }

  func apply(_ change: Change) {
    let begun = change.begun.map { begin($0) }
    state.withLock { state in
      if let begun {
        state.filing = begun
        state.waiting = [:]
        state.waitingCount = 0
        state.waitingBytes = 0
        state.marked = []
        state.generation += 1
      }
      for row in change.added { state.waiting[row.subscriber, default: []].append(row) }
      state.waitingCount += change.added.count
      state.waitingBytes += change.added.reduce(0) { $0 + $1.bytes }
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

  /// Sorts the subscribers without the mutex, so that other threads can read the tail meanwhile.
  private func begin(_ run: Int64) -> Filing {
    let (waiting, generation) = state.withLock { ($0.waiting, $0.generation) }
    return Filing(
      run: run, generation: generation, entries: waiting, subscribers: waiting.keys.sorted())
  }
}

extension [NotificationIndexRow] {
  /// The numbers of each database rise, so the search begins at the end.
  fileprivate func latest(in database: DatabaseID, after sequence: Int64) -> [NotificationIndexRow]
  {
    var latest: [NotificationIndexRow] = []
    for row in reversed() where row.database == database {
      guard row.sequence > sequence else { break }
      latest.append(row)
    }
    return latest.reversed()
  }
}
