import CloudKitModel
import StoreModel

/// A schedule of waiting jobs: it decides which jobs a thread does next. The schedule is a value
/// without locks of its own; ``JobQueue`` guards it.
///
/// A transaction has jobs of one kind (``JobKind``). While several kinds wait, every second
/// transaction is one of short jobs, and the others are of dispatches and of bulk writes in turns.
/// So a short job waits for one other transaction at most, and bulk writes cannot keep the
/// dispatcher from following them. If only bulk writes wait, a transaction takes as many as it can,
/// because jobs that change the same pages cost less together; otherwise it takes ``rowBudget``
/// rows.
///
/// If ``threads`` is 1, a thread gets the oldest jobs of a kind, whatever their locks. This also
/// serves the queue of reads, because reads take no locks. On a distributed store, the jobs of a
/// transaction name one database, even with one thread.
///
/// With several threads, two jobs whose locks (``WriteLocks``) exclude each other never run at the
/// same time on different threads. Such jobs of one kind run in the order in which they were added.
/// Short jobs and others then take turns in each database too, because the turns of all databases
/// together could all go to the others.
struct WriteSchedule {
  private let threads: Int
  private let separatesDatabases: Bool
  /// The jobs that a thread may take although the other threads then have none. The common cost of
  /// a transaction, such as the commit, is more than few jobs gain by several threads.
  private let leastShare: Int
  /// The jobs of a kind in the order in which they came, since those of one database must keep it.
  private var waiting: [JobKind: [any StoreJob]] = [:]
  private var order: [JobKind] = [.short, .dispatch, .bulk]
  /// Whether the last transaction of a database had other jobs than short ones. A missing database
  /// owes nobody a turn.
  private var wasLong: [DatabaseID: Bool] = [:]
  private var waitingForAll = 0
  /// The locks of each thread's current jobs; nil for a thread without jobs.
  private var inHand: [WriteLocks?]
  private var heldLocks = LockSet()

  /// The most jobs of a kind that one call examines, so that it stays short while many wait for one
  /// lock.
  private static let lookahead = 2_048
  private static let turnLimit = 1_024
  /// While other jobs wait. One job may have more.
  private static let rowBudget = 512

  init(threads: Int, separatesDatabases: Bool = false, leastShare: Int = 16) {
    self.threads = max(1, threads)
    self.leastShare = leastShare
    self.separatesDatabases = separatesDatabases
    inHand = Array(repeating: nil, count: self.threads)
  }

  var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
  var isEmpty: Bool { waiting.values.allSatisfy(\.isEmpty) }

  /// Whether so few jobs wait that another thread, which is at work, can soon do all together.
  func hasFew(besides thread: Int?) -> Bool {
    threads > 1 && !separatesDatabases && count < leastShare
      && inHand.indices.contains { $0 != thread && inHand[$0] != nil }
  }

  mutating func add(_ job: any StoreJob) -> Bool {
    waiting[job.kind, default: []].append(job)
    if Self.takesAll(job) { waitingForAll += 1 }
    return threads == 1 || !heldLocks.exclude(job.locks)
  }

  mutating func finish(by thread: Int) {
    guard inHand[thread] != nil else { return }
    inHand[thread] = nil
    heldLocks = LockSet(inHand.compactMap(\.self))
  }

  /// Empty while all waiting jobs must wait for other threads.
  ///
  /// A thread gets its share: the number of waiting jobs divided by the number of threads, or
  /// ``leastShare`` if that is more. It also gets the further jobs that the locks of its own jobs
  /// keep from other threads anyway. All jobs of one transaction have the same `WriteLocks.reach`,
  /// so jobs that need the reference lock are done together.
  ///
  /// - Complexity: O(*n*), where *n* is the number of waiting jobs.
  mutating func take(most: Int, by thread: Int) -> [any StoreJob] {
    // A job that takes all locks waits for a moment when nobody has any. Turns of others would put
    // the moment off without end.
    let taken = take(most: most, by: thread, inTurns: waitingForAll == 0)
    // Jobs of several databases can owe each other turns in a circle.
    return taken.isEmpty && !wasLong.isEmpty ? take(most: most, by: thread, inTurns: false) : taken
  }

  /// Whether a job must wait for all others, so that it comes before their turns. Bulk writes keep
  /// their turn: otherwise short jobs would come before them without end.
  private static func takesAll(_ job: any StoreJob) -> Bool {
    job.kind == .short && job.locks.reach == .everything
  }

  /// - Parameter inTurns: whether the turns are kept. Otherwise short jobs come first.
  private mutating func take(most: Int, by thread: Int, inTurns: Bool) -> [any StoreJob] {
    // A job that must wait excludes those that are examined after it.
    var excluded = heldLocks
    var isFirst = true
    for kind in inTurns ? order : [.short, .dispatch, .bulk] where waiting[kind]?.isEmpty == false {
      let owed = inTurns ? databasesOwed(before: kind) : []
      let taken = take(kind, most: most, by: thread, excluding: &excluded, owed: owed)
      if !taken.isEmpty {
        if isFirst || !inTurns { endTurn(of: kind) }
        return taken
      }
      // Until the kind whose turn it is can be taken, the order stays.
      isFirst = false
    }
    return []
  }

  private mutating func endTurn(of kind: JobKind) {
    order.removeAll { $0 == kind }
    switch kind {
    case .short: order.append(.short)
    case .dispatch, .bulk:
      order.removeAll { $0 == .short }
      order = [.short] + order + [kind]
    }
  }

  /// - Parameters:
  ///   - excluded: the locks that no job may take. The method adds those of jobs that must wait for
  ///     them.
  ///   - owed: the databases in which it is the turn of other kinds.
  private mutating func take(
    _ kind: JobKind, most: Int, by thread: Int, excluding excluded: inout LockSet,
    owed: Set<DatabaseID>
  ) -> [any StoreJob] {
    let all = count
    // Taken out, so that no copy of the array is made.
    var jobs = waiting.updateValue([], forKey: kind) ?? []
    let budget = kind == .bulk && jobs.count < all ? Self.rowBudget : .max
    let locksMatter = threads > 1 || separatesDatabases
    let share = locksMatter ? max(leastShare, (all + threads - 1) / threads) : most
    var locks: WriteLocks?
    var rows = 0
    var taken: [any StoreJob] = []
    var left: [any StoreJob] = []
    var looked = 0
    // The locks of jobs that wait for their turn, which exclude jobs of this kind only.
    var later = LockSet()
    for job in jobs {
      guard taken.count < most, looked < Self.lookahead else { break }
      guard taken.isEmpty || rows + job.rows <= budget else { break }
      looked += 1
      let wanted = job.locks
      if !owed.isEmpty, wanted.databases.contains(where: owed.contains) || later.exclude(wanted) {
        later.insert(wanted)
        left.append(job)
      } else if !locksMatter
        || !excluded.exclude(wanted)
          && fits(wanted, into: locks, isBelowShare: taken.count < share)
      {
        locks = locks?.union(wanted) ?? wanted
        if Self.takesAll(job) { waitingForAll -= 1 }
        rows += job.rows
        taken.append(job)
      } else {
        excluded.insert(wanted)
        left.append(job)
      }
    }
    jobs.replaceSubrange(0..<looked, with: left)
    waiting[kind] = jobs
    if let locks, locksMatter {
      inHand[thread] = locks
      heldLocks.insert(locks)
      if wasLong.count > Self.turnLimit { wasLong = [:] }
      for database in locks.databases { wasLong[database] = kind != .short }
    }
    return taken
  }

  /// Returns the databases in which a job of this kind must wait, because the last transaction was
  /// like it, and a job that is not waits.
  private func databasesOwed(before kind: JobKind) -> Set<DatabaseID> {
    guard threads > 1, !wasLong.isEmpty else { return [] }
    let isLong = kind != .short
    let others: [JobKind] = isLong ? [.short] : [.dispatch, .bulk]
    var owed: Set<DatabaseID> = []
    for job in others.flatMap({ waiting[$0]?.prefix(Self.lookahead) ?? [] }) {
      for database in job.locks.databases where wasLong[database] == isLong {
        owed.insert(database)
      }
    }
    return owed
  }

  /// `locks` are those of the jobs that were chosen so far.
  ///
  /// All jobs of one transaction have the same reach. In a distributed store, they must also name
  /// the same database, and the thread's share does not matter. In other stores, a job beyond the
  /// share fits only if no other thread could do the job meanwhile.
  private func fits(_ wanted: WriteLocks, into locks: WriteLocks?, isBelowShare: Bool) -> Bool {
    guard let locks else { return true }
    guard wanted.reach == locks.reach else { return false }
    if separatesDatabases {
      // A job that settles deliveries or names no database may write to any database, so it has a
      // transaction of its own.
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

/// The union of the locks of several jobs.
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

  /// Two jobs exclude each other if both settle deliveries, lock the same database, or take the
  /// reference lock. A job that takes all locks (``WriteLocks/everything``) excludes every job that
  /// locks a database, takes the reference lock or takes all locks.
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
