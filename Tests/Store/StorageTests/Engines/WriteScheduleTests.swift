import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct WriteScheduleTests {
  private final class Job: StoreJob {
    let number: Int
    let locks: WriteLocks
    let rows: Int
    let isDispatch: Bool

    init(_ number: Int, _ locks: WriteLocks, rows: Int = 1, isDispatch: Bool = false) {
      self.number = number
      self.locks = locks
      self.rows = rows
      self.isDispatch = isDispatch
    }

    func run(in transaction: StoreTransaction) throws {}
    func finish(_ failure: (any Error)?) {}
  }

  private static func database(_ number: Int64) -> WriteLocks {
    .database(DatabaseID(rawValue: number))
  }

  /// Returns a schedule with one job for each of these locks.
  private static func schedule(_ threads: Int, _ locks: [WriteLocks]) -> WriteSchedule {
    var schedule = WriteSchedule(threads: threads, leastShare: 1)
    for (number, locks) in locks.enumerated() { _ = schedule.add(Job(number, locks)) }
    return schedule
  }

  private static func take(
    _ most: Int, by thread: Int, of schedule: inout WriteSchedule
  ) -> [Int] {
    schedule.take(most: most, by: thread).compactMap { ($0 as? Job)?.number }
  }

  @Test("one thread takes all in order, whatever they lock")
  func one() {
    var schedule = Self.schedule(1, [Self.database(1), .everything, .reference, Self.database(1)])
    var taken = Self.take(3, by: 0, of: &schedule)
    #expect(taken == [0, 1, 2])
    taken = Self.take(3, by: 0, of: &schedule)
    #expect(taken == [3])
    #expect(schedule.isEmpty)
  }

  @Test("a database's jobs go together, and nobody else has it meanwhile")
  func database() {
    let locks = [1, 1, 2, 1, 2].map { Self.database($0) }
    var schedule = Self.schedule(4, locks)
    var taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [0, 1, 3])
    var isReady = schedule.add(Job(5, Self.database(1)))
    #expect(!isReady)
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken == [2, 4])
    taken = Self.take(10, by: 2, of: &schedule)
    #expect(taken.isEmpty)
    isReady = schedule.add(Job(6, Self.database(3)))
    #expect(isReady)
    schedule.finish(by: 0)
    taken = Self.take(10, by: 2, of: &schedule)
    #expect(taken == [5])
    taken = Self.take(10, by: 3, of: &schedule)
    #expect(taken == [6])
  }

  @Test("databases are shared out among the threads")
  func share() {
    var schedule = Self.schedule(4, (0..<16).map { Self.database(Int64($0)) })
    var counts: [Int] = []
    for thread in 0..<4 { counts.append(schedule.take(most: 100, by: thread).count) }
    #expect(counts == [4, 3, 3, 2])
    #expect(schedule.count == 4)
  }

  @Test("what has everything waits for those before it, and holds up those behind it")
  func everything() {
    var schedule = Self.schedule(2, [Self.database(1), .everything, Self.database(2), .reference])
    var taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [0])
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken.isEmpty)
    schedule.finish(by: 0)
    taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [1])
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken.isEmpty)
    schedule.finish(by: 0)
    taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [2])
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken == [3])
  }

  @Test("a write to the reference tables holds up no save")
  func reference() {
    var schedule = Self.schedule(2, [.reference, .reference, Self.database(1)])
    var taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [0, 1])
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken == [2])
  }

  @Test("one thread alone settles deliveries, beside writes to databases")
  func deliveries() {
    var schedule = Self.schedule(2, [.deliveries, .deliveries, Self.database(1)])
    var taken = Self.take(1, by: 0, of: &schedule)
    #expect(taken == [0])
    taken = Self.take(10, by: 1, of: &schedule)
    #expect(taken == [2])
    schedule.finish(by: 0)
    taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [1])
  }

  @Test(
    "no two threads have what excludes each other, each kind keeps its order, all is done",
    arguments: Seeds.some(30))
  func random(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    let threads = Int.random(in: 2...5, using: &generator)
    var schedule = WriteSchedule(threads: threads, leastShare: 1)
    var inHand = [[Job]](repeating: [], count: threads)
    var begun: [Job] = []
    var added = 0
    while added < 400 || begun.count < added {
      if added < 400, generator.chance(1, in: 2) {
        for _ in 0..<Int.random(in: 1...9, using: &generator) {
          let rows = generator.chance(1, in: 3) ? 400 : 1
          let isDispatch = generator.chance(1, in: 2)
          _ = schedule.add(
            Job(
              added, Self.randomLocks(using: &generator), rows: rows, isDispatch: isDispatch))
          added += 1
        }
      }
      let thread = Int.random(in: 0..<threads, using: &generator)
      schedule.finish(by: thread)
      inHand[thread] = schedule.take(most: 7, by: thread).compactMap { $0 as? Job }
      begun += inHand[thread]
      #expect(inHand[thread].count <= 7)
      for other in 0..<threads where other != thread {
        for (one, two) in inHand[thread].flatMap({ one in inHand[other].map { (one, $0) } }) {
          #expect(!Self.exclude(one.locks, two.locks), "\(one.locks) and \(two.locks)")
        }
      }
    }
    #expect(begun.map(\.number).sorted() == Array(0..<added))
    for (place, job) in begun.enumerated() {
      for later in begun[place...]
      where job.kind == later.kind && Self.exclude(job.locks, later.locks) {
        #expect(later.number >= job.number)
      }
    }
  }

  @Test(
    "short jobs have every second turn, dispatches and bulk writes the others", arguments: [1, 2])
  func kinds(threads: Int) {
    var schedule = WriteSchedule(threads: threads, leastShare: 1)
    for number in 0..<4 { _ = schedule.add(Job(number, Self.database(1), rows: 400)) }
    for number in 10..<12 {
      _ = schedule.add(Job(number, Self.database(1), rows: 400, isDispatch: true))
    }
    var taken: [[Int]] = []
    for number in 20..<26 {
      _ = schedule.add(Job(number, Self.database(1)))
      taken.append(Self.take(1, by: 0, of: &schedule))
      schedule.finish(by: 0)
    }
    #expect(taken == [[20], [10], [21], [0], [22], [11]])
    taken = []
    while !schedule.isEmpty {
      taken.append(Self.take(10, by: 0, of: &schedule))
      schedule.finish(by: 0)
    }
    // Once nobody else waits, bulk writes go together.
    #expect(taken == [[23, 24, 25], [1, 2, 3]])
  }

  @Test("bulk writes that other jobs wait for are of a few hundred rows")
  func budget() {
    var schedule = Self.schedule(1, [])
    for number in 0..<3 { _ = schedule.add(Job(number, Self.database(1), rows: 200)) }
    _ = schedule.add(Job(3, Self.database(1)))
    var taken = Self.take(1, by: 0, of: &schedule)
    #expect(taken == [3])
    _ = schedule.add(Job(4, Self.database(1)))
    taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [0, 1])
  }

  @Test("neither short nor bulk jobs of a database starve, whatever other databases want")
  func noStarvation() {
    for isLong in [false, true] {
      var schedule = WriteSchedule(threads: 2, leastShare: 1)
      func add(_ number: Int, _ database: Int64, isLong: Bool) {
        _ = schedule.add(Job(number, Self.database(database), rows: isLong ? 400 : 1))
      }
      add(0, 1, isLong: !isLong)
      var begun = Self.take(1, by: 0, of: &schedule)
      add(100, 1, isLong: isLong)
      for number in 1..<9 where !begun.contains(100) {
        add(number, 1, isLong: !isLong)
        for database in 2..<6 { add(number, Int64(database), isLong: isLong) }
        schedule.finish(by: number % 2)
        begun += Self.take(1, by: number % 2, of: &schedule)
      }
      #expect(begun.contains(100), "\(isLong ? "a bulk write" : "a short write") waits: \(begun)")
    }
  }

  @Test("a job that takes all locks is done, however much is written to databases")
  func everythingAmongMany() {
    var schedule = WriteSchedule(threads: 2, leastShare: 1)
    func add(_ number: Int) {
      for database in 1..<6 as Range<Int64> {
        _ = schedule.add(Job(number, Self.database(database)))
        _ = schedule.add(Job(number, Self.database(database), rows: 400))
      }
    }
    add(0)
    for thread in 0..<2 { _ = Self.take(1, by: thread, of: &schedule) }
    _ = schedule.add(Job(100, .everything))
    var begun: [Int] = []
    for number in 1..<9 where !begun.contains(100) {
      add(number)
      schedule.finish(by: number % 2)
      begun += Self.take(1, by: number % 2, of: &schedule)
    }
    #expect(begun.contains(100), "\(begun)")
  }

  @Test("a bulk write that takes all locks has its turn among short jobs")
  func bulkEverything() {
    var schedule = WriteSchedule(threads: 1, leastShare: 1)
    _ = schedule.add(Job(0, .everything, rows: 400))
    var taken: [[Int]] = []
    for number in 1..<4 {
      _ = schedule.add(Job(number, Self.database(1)))
      taken.append(Self.take(10, by: 0, of: &schedule))
    }
    #expect(taken == [[1], [0], [2, 3]])
  }

  @Test("where databases are on several nodes, one database's jobs go together and others alone")
  func separate() {
    for threads in [1, 3] {
      var schedule = WriteSchedule(threads: threads, separatesDatabases: true, leastShare: 1)
      let locks: [WriteLocks] = [
        Self.database(1), Self.database(2), Self.database(1), .deliveries, .deliveries,
        .reference, .rows, .rows,
      ]
      for (number, locks) in locks.enumerated() { _ = schedule.add(Job(number, locks)) }
      var groups: [[Int]] = []
      while !schedule.isEmpty {
        groups.append(Self.take(10, by: 0, of: &schedule))
        schedule.finish(by: 0)
      }
      #expect(groups == [[0, 2], [1], [3], [4], [5], [6], [7]], "\(threads) threads")
    }
  }

  @Test("a thread takes a few jobs together, and leaves a few to a thread at work")
  func few() {
    var schedule = WriteSchedule(threads: 2, leastShare: 3)
    for number in 0..<2 { _ = schedule.add(Job(number, Self.database(Int64(number)))) }
    #expect(!schedule.hasFew(besides: 0))
    let taken = Self.take(10, by: 0, of: &schedule)
    #expect(taken == [0, 1])
    for number in 2..<5 {
      _ = schedule.add(Job(number, Self.database(Int64(number))))
      #expect(schedule.hasFew(besides: 1) == (number < 4))
    }
    schedule.finish(by: 0)
    #expect(!schedule.hasFew(besides: 1))
    // A transaction on several nodes has one database.
    var separate = WriteSchedule(threads: 2, separatesDatabases: true, leastShare: 3)
    for number in 0..<2 { _ = separate.add(Job(number, Self.database(Int64(number)))) }
    _ = Self.take(10, by: 0, of: &separate)
    #expect(!separate.hasFew(besides: 1))
  }

  @Test("a few jobs that wait for a thread at work begin without it if it takes long")
  func watch() async throws {
    let queue = JobQueue(limit: 10, role: "writes", writers: 2)
    queue.add(Job(0, Self.database(0)))
    #expect(queue.take(most: 10, by: 0)?.count == 1)
    for number in 1..<4 { queue.add(Job(number, Self.database(Int64(number)))) }
    let taken = try await Store.onThread { queue.take(most: 10, by: 1)?.count }
    #expect(taken == 3)
  }

  private static func randomLocks(using generator: inout SeededGenerator) -> WriteLocks {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0: .everything
    case 1: .reference
    case 2: .reference.union(database(Int64.random(in: 1...5, using: &generator)))
    case 3: .rows
    case 4: .deliveries
    case 5:
      .databases((1...5).shuffled(using: &generator).prefix(3).map { DatabaseID(rawValue: $0) })
    default: database(Int64.random(in: 1...5, using: &generator))
    }
  }

  /// By the words of ``WriteLocks``, the slow way.
  private static func exclude(_ one: WriteLocks, _ two: WriteLocks) -> Bool {
    func uses(_ locks: WriteLocks) -> Bool { locks.reach > .rows || !locks.databases.isEmpty }
    if one.reach == .everything || two.reach == .everything { return uses(one) && uses(two) }
    return one.reach == .reference && two.reach == .reference
      || one.settlesDeliveries && two.settlesDeliveries
      || !Set(one.databases).isDisjoint(with: two.databases)
  }
}
