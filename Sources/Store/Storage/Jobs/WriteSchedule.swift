import CloudKitModel
import StoreModel

/// Which of the jobs that wait a thread does next, as a value.
///
/// With one thread, or where jobs do not lock, that is all of them in order, but where the databases of
/// the store are on several nodes: there each transaction concerns one of them. Threads that write side by
/// side never have jobs in hand at the same time whose locks exclude each other, and such jobs are
/// done in the order in which they came.
struct WriteSchedule {
  private let threads: Int
  /// Whether what is done as one transaction concerns one database.
  private let separatesDatabases: Bool
  private var waiting: [any StoreJob] = []
  /// What the threads have in hand, by their numbers.
  private var inHand: [WriteLocks?]
  private var heldLocks = LockSet()

  /// Jobs that are looked at before a thread waits for others to finish.
  private static let foresight = 2_048

  init(threads: Int, separatesDatabases: Bool = false) {
    self.threads = max(1, threads)
    self.separatesDatabases = separatesDatabases
    inHand = Array(repeating: nil, count: self.threads)
  }

  var count: Int { waiting.count }
  var isEmpty: Bool { waiting.isEmpty }

  /// Takes in a job. Answers whether a thread that has nothing to do could begin it.
  mutating func add(_ job: any StoreJob) -> Bool {
    waiting.append(job)
    return threads == 1 || !heldLocks.exclude(job.locks)
  }

  /// A thread has done what it had in hand.
  mutating func finish(by thread: Int) {
    guard inHand[thread] != nil else { return }
    inHand[thread] = nil
    heldLocks = LockSet(inHand.compactMap(\.self))
  }

  /// The jobs that a thread is to do as one transaction, `most` of them at most; none while all that
  /// wait must wait for others.
  ///
  /// It takes its share of what waits, and leaves the rest to the other threads; but all of what nobody
  /// else could do meanwhile. Jobs that have more than databases to themselves go with their like, so
  /// that few others wait for them.
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
      guard taken.count < most, looked < Self.foresight else { break }
      looked += 1
      let wanted = job.locks
      if !excluded.exclude(wanted), fits(wanted, into: locks, hasRoom: taken.count < share) {
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

  private func fits(_ wanted: WriteLocks, into locks: WriteLocks?, hasRoom: Bool) -> Bool {
    guard let locks else { return true }
    guard wanted.reach == locks.reach else { return false }
    if separatesDatabases {
      // What settles deliveries, or declares no database, may write to any.
      return !wanted.databases.isEmpty && wanted.databases == locks.databases
        && !wanted.settlesDeliveries && !locks.settlesDeliveries
    }
    if hasRoom { return true }
    let excludesOthers =
      wanted.reach > .rows || wanted.settlesDeliveries || !wanted.databases.isEmpty
    return excludesOthers && locks.cover(wanted)
      && (locks.settlesDeliveries || !wanted.settlesDeliveries)
  }
}

/// Locks that others have, for finding out quickly whether they exclude one's own.
private struct LockSet {
  private var reach = WriteLocks.Reach.rows
  private var databases: Set<DatabaseID> = []
  private var settlesDeliveries = false

  init(_ all: [WriteLocks] = []) {
    for locks in all { insert(locks) }
  }

  mutating func insert(_ locks: WriteLocks) {
    reach = max(reach, locks.reach)
    settlesDeliveries = settlesDeliveries || locks.settlesDeliveries
    databases.formUnion(locks.databases)
  }

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
