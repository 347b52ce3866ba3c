import StoreModel
import Synchronization

/// The entries of the notification log that are not yet in its index by subscriber
/// (``NotificationIndexTable``). They wait in memory.
///
/// Consecutive entries belong to unrelated subscribers, so each entry would change another page of
/// the index. The tail therefore collects entries. When enough entries wait, a *run* is begun: a
/// sorted piece of the index. Each commit then *files* some of these entries, that is, inserts
/// their rows into the run in the order of subscribers. The entries stay in the tail until the run
/// is complete.
///
/// A crash loses nothing: the next process reads the entries from the log again. The table
/// `unfiled_notifications` has the number of each database's first unfiled entry.
///
/// The entries that wait for the same run are a *generation*. Its number rises when a run is begun.
/// So at most two generations are in the tail: one whose run is being made, and one that waits.
///
/// Only the writing thread changes the tail, after commits. Reading threads read it; a mutex guards
/// the state.
final class NotificationTail: Sendable {
  /// The changes of one transaction to the tail. ``NotificationTail/apply(_:)`` makes them after
  /// the commit.
  struct Change {
    /// The entries that were logged, and that wait to be filed.
    var added: [NotificationIndexRow] = []
    /// The databases for which the transaction has added a row to `unfiled_notifications`.
    var marked: [DatabaseID] = []
    /// The number of the run that was begun for all entries that waited before; nil if none was.
    var begun: Int64?
    /// The number of subscribers whose entries the transaction has inserted into the current run.
    var filedSubscribers = 0
    /// Whether the current run is now complete.
    var isWhole = false
    /// The number of the run into which other runs are merged from now on; nil if no merge was
    /// begun.
    var merging: Int64?
    /// Whether the transaction has ended a merge.
    var endsMerging = false
  }

  /// A run that is being made, with the entries that waited when the run was begun.
  struct Filing {
    /// The number of the run.
    let run: Int64
    /// The generation of the run's entries.
    let generation: Int64
    /// The entries by the record names of subscribers.
    fileprivate let entries: [String: [NotificationIndexRow]]
    /// The record names of the subscribers, sorted. The entries are filed in this order.
    fileprivate let subscribers: [String]
    /// The number of subscribers whose entries are in the run already.
    fileprivate var filedSubscribers = 0

    /// Returns the next entries to file, with all entries of each subscriber.
    ///
    /// - Parameter count: the least number of entries, if as many are left.
    /// - Returns: `rows`: the entries; `subscribers`: the number of their subscribers; `isLast`:
    ///   true if no entries of the run are left after these.
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
    /// The bytes of the contents of the waiting entries.
    var waitingBytes = 0
    /// The databases with a row in `unfiled_notifications` for the generation of the waiting
    /// entries.
    var marked: Set<DatabaseID> = []
    /// The generation of the waiting entries.
    var generation: Int64
    /// The run that is being made; nil if there is none.
    var filing: Filing?
    /// The number of the run into which other runs are being merged; nil if there is none.
    var merging: Int64?
    /// The number of runs completed since the store was opened. When a run is complete, the tail
    /// drops its entries: only the index has them then.
    var wholeRuns = 0
  }

  private let state: Mutex<State>
  /// The number of waiting entries at which a run is begun.
  let capacity: Int
  /// The bytes of the contents of waiting entries at which a run is begun. The log cannot be trimmed
  /// of entries that wait.
  private static let byteCapacity = 32 << 20

  /// Creates a tail with the entries that a former process left unfiled.
  ///
  /// - Parameters:
  ///   - capacity: the number of waiting entries at which a run is begun.
  ///   - rows: the entries of all generations that are in no run, in the order of their numbers in
  ///     each database. They wait for the next run.
  ///   - marked: the databases with rows in `unfiled_notifications`.
  ///   - generation: the latest generation in `unfiled_notifications`; 1 if the table is empty.
  ///   - merging: the number of the run into which other runs are being merged; nil if there is
  ///     none.
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

  /// The number of entries in memory.
  var count: Int {
    state.withLock {
      $0.waitingCount + ($0.filing?.entries.values.reduce(0) { $0 + $1.count } ?? 0)
    }
  }

  /// The number of runs completed since the store was opened. The number changes exactly when the
  /// tail drops entries, because the index has them.
  var wholeRuns: Int { state.withLock { $0.wholeRuns } }

  /// Returns a subscriber's entries. The run that is being made may have some of them, too.
  ///
  /// - Parameter wholeRuns: the value of ``wholeRuns`` before the reader's transaction began.
  /// - Returns: the entries; nil if a run was completed since. The tail has then dropped entries
  ///   that the transaction's snapshot of the index may not have.
  func rows(of subscriber: String, since wholeRuns: Int) -> [NotificationIndexRow]? {
    state.withLock { state in
      guard state.wholeRuns == wholeRuns else { return nil }
      return (state.filing?.entries[subscriber] ?? []) + (state.waiting[subscriber] ?? [])
    }
  }

  /// Returns a subscriber's entries in one database after a number, in the order of the numbers. The
  /// run that is being made may have some of them, too.
  ///
  /// - Parameter wholeRuns: the value of ``wholeRuns`` before the reader's transaction began.
  /// - Returns: the entries; nil if a run was completed since.
  /// - Complexity: O(*n*), where *n* is the number of the subscriber's entries after that number, in
  ///   all databases.
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

  /// The run that is being made, with its entries; nil if there is none.
  var filing: Filing? { state.withLock { $0.filing } }
  /// The number of the run into which other runs are being merged; nil if there is none.
  var merging: Int64? { state.withLock { $0.merging } }
  /// The number of entries that wait for the next run.
  var waitingCount: Int { state.withLock { $0.waitingCount } }
  /// Whether so many or so large entries wait that a run is to be begun.
  var isFull: Bool {
    state.withLock { $0.waitingCount >= capacity || $0.waitingBytes >= Self.byteCapacity }
  }
  /// The generation of the waiting entries.
  var generation: Int64 { state.withLock { $0.generation } }

  /// Returns whether the tail has entries of `generation` or of an earlier generation.
  func hasUnfiled(through generation: Int64) -> Bool {
    state.withLock { state in
      if let filing = state.filing, filing.generation <= generation { return true }
      return state.generation <= generation && state.waitingCount > 0
    }
  }

  /// Returns whether `unfiled_notifications` has a row of the database for the generation of the
  /// waiting entries.
  func isMarked(_ database: DatabaseID) -> Bool {
    state.withLock { $0.marked.contains(database) }
  }

  /// Makes the changes of a committed transaction. Call the method on the writing thread.
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

  /// Returns a run to be made of all waiting entries. The method sorts the subscribers without the
  /// mutex, so that other threads can read the tail meanwhile.
  ///
  /// - Parameter run: the number of the run.
  private func begin(_ run: Int64) -> Filing {
    let (waiting, generation) = state.withLock { ($0.waiting, $0.generation) }
    return Filing(
      run: run, generation: generation, entries: waiting, subscribers: waiting.keys.sorted())
  }
}

extension [NotificationIndexRow] {
  /// Returns the entries in one database after a number. The numbers of each database rise, so the
  /// search begins at the end.
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
