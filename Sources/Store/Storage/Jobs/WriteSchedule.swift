import CloudKitModel
import StoreModel

/// A schedule of waiting jobs: it decides which ones a thread does next. The schedule is a value
/// without I/O and without locks of its own; ``JobQueue`` guards it.
///
/// With one thread, or with jobs without locks, a thread takes all jobs in order. On a distributed
/// store, each transaction concerns one database. Concurrent threads never hold jobs whose locks
/// exclude each other; such jobs run in the order in which they came.
struct WriteSchedule {
  /// The number of threads that take jobs, at least 1.
  private let threads: Int
  /// Whether the jobs of one transaction concern one database.
  private let separatesDatabases: Bool
  /// The waiting jobs, oldest first.
  private var waiting: [any StoreJob] = []
  /// The locks of each thread's current jobs, by the threads' numbers.
  private var inHand: [WriteLocks?]
  /// The union of the locks in ``inHand``.
  private var heldLocks = LockSet()

  /// The most jobs examined before a thread waits for others to finish. The limit bounds the time
  /// of a call while many jobs wait for one lock.
  private static let lookahead = 2_048

  /// Creates an empty schedule.
  ///
  /// - Parameters:
  ///   - threads: the number of threads; a number below 1 counts as 1.
  ///   - separatesDatabases: whether the jobs of one transaction concern one database, as in a
  ///     distributed store.
  init(threads: Int, separatesDatabases: Bool = false) {
    self.threads = max(1, threads)
    self.separatesDatabases = separatesDatabases
    inHand = Array(repeating: nil, count: self.threads)
  }

  /// The number of waiting jobs.
  var count: Int { waiting.count }
  var isEmpty: Bool { waiting.isEmpty }

  /// Adds a job. Returns whether an idle thread could begin it.
  mutating func add(_ job: any StoreJob) -> Bool {
    waiting.append(job)
    return threads == 1 || !heldLocks.exclude(job.locks)
  }

  /// Notes that a thread has finished its jobs, and releases their locks. The method does nothing
  /// for a thread without jobs.
  mutating func finish(by thread: Int) {
    guard inHand[thread] != nil else { return }
    inHand[thread] = nil
    heldLocks = LockSet(inHand.compactMap(\.self))
  }

  /// The jobs for a thread's next transaction, at most `most`; empty while all waiting jobs must
  /// wait for other threads.
  ///
  /// A thread takes its share of the waiting jobs and leaves the rest to the other threads. The
  /// thread also takes all jobs that no other thread could do meanwhile. Jobs with more than
  /// database locks are taken together, so that few other jobs wait for them.
  ///
  /// - Complexity: O(*n*) for *n* waiting jobs; the locks of at most ``lookahead`` are examined.
  mutating func take(most: Int, by thread: Int) -> [any StoreJob] {
    if threads == 1, !separatesDatabases {
      let taken = Array(waiting.prefix(most))
      waiting.removeFirst(taken.count)
      return taken
    }
    let share = (waiting.count + threads - 1) / threads
    var excluded = heldLocks
    var locks: WriteLocks?
    var taken: [any StoreJob] = []
    var left: [any StoreJob] = []
    var looked = 0
    for job in waiting {
      guard taken.count < most, looked < Self.lookahead else { break }
      looked += 1
      let wanted = job.locks
      if !excluded.exclude(wanted), fits(wanted, into: locks, isBelowShare: taken.count < share) {
        locks = locks?.union(wanted) ?? wanted
        taken.append(job)
      } else {
        excluded.insert(wanted)
        left.append(job)
      }
    }
    guard let locks else { return [] }
    waiting.replaceSubrange(0..<looked, with: left)
    inHand[thread] = locks
    heldLocks.insert(locks)
    return taken
  }

  /// Whether a job may join the jobs that a thread has chosen so far.
  ///
  /// The first job always fits. Jobs of one transaction have the same reach. Beyond the thread's
  /// share, only jobs fit that no other thread could do meanwhile. In a distributed store, the jobs
  /// must name the same database instead.
  ///
  /// - Parameters:
  ///   - wanted: the locks of the job.
  ///   - locks: the union of the locks of the chosen jobs; nil if there are none.
  ///   - isBelowShare: whether the thread has less than its share of the waiting jobs.
  private func fits(_ wanted: WriteLocks, into locks: WriteLocks?, isBelowShare: Bool) -> Bool {
    guard let locks else { return true }
    guard wanted.reach == locks.reach else { return false }
    if separatesDatabases {
      // A job that settles deliveries, or names no database, may write to any database.
      return !wanted.databases.isEmpty && wanted.databases == locks.databases
        && !wanted.settlesDeliveries && !locks.settlesDeliveries
    }
    if isBelowShare { return true }
    let excludesOthers =
      wanted.reach > .rows || wanted.settlesDeliveries || !wanted.databases.isEmpty
    return excludesOthers && locks.cover(wanted)
      && (locks.settlesDeliveries || !wanted.settlesDeliveries)
  }
}

/// A union of locks that checks quickly whether other locks are excluded.
///
/// A set stands for several jobs, so two of its parts may come from different ones.
private struct LockSet {
  /// The greatest reach of the locks.
  private var reach = WriteLocks.Reach.rows
  private var databases: Set<DatabaseID> = []
  /// Whether one of the jobs settles deliveries.
  private var settlesDeliveries = false

  init(_ all: [WriteLocks] = []) {
    for locks in all { insert(locks) }
  }

  /// Adds the locks of a job.
  mutating func insert(_ locks: WriteLocks) {
    reach = max(reach, locks.reach)
    settlesDeliveries = settlesDeliveries || locks.settlesDeliveries
    databases.formUnion(locks.databases)
  }

  /// Whether a job with these locks must wait.
  ///
  /// Two jobs exclude each other in three cases: both settle deliveries, both name a common
  /// database, or both take the reference lock. A job with all locks excludes every job that names
  /// a database or takes the reference lock.
  func exclude(_ locks: WriteLocks) -> Bool {
    if locks.settlesDeliveries, settlesDeliveries { return true }
    let usesDatabases = !locks.databases.isEmpty
    switch (locks.reach, reach) {
    case (.rows, .rows), (.rows, .reference), (.reference, .rows): break
    case (.rows, .everything): if usesDatabases { return true }
    case (.everything, .rows): if !databases.isEmpty { return true }
    case (.reference, _), (.everything, _): return true
    }
    return usesDatabases && locks.databases.contains(where: databases.contains)
  }
}
