import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import ChangeDispatch

struct LaneScheduleTests {
  private static let first = DatabasePart.whole(DatabaseID(rawValue: 1))
  private static let second = DatabasePart.whole(DatabaseID(rawValue: 2))
  private static let third = DatabasePart.whole(DatabaseID(rawValue: 3))

  @Test("after a start the outbox is looked into first, and those it names read it")
  func startsWithOutbox() {
    var schedule = LaneSchedule(capacity: 10, laneLimit: 10)
    schedule.offer(Self.entries(1...2))
    #expect(schedule.next() == .list)
    // From here on changes are taken in; what the list names comes before them.
    schedule.offer(Self.entries(3...3))
    schedule.offer(Self.entries(3...3, of: Self.second))
    #expect(schedule.next() == nil)
    schedule.list([Self.first])
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.next() == .serve(Self.second))
    #expect(schedule.work(of: Self.first) == .catchUp)
    #expect(schedule.work(of: Self.second).sequences == [3])
  }

  @Test("a lane that never runs dry makes room for one that waits, and goes on after it")
  func takesTurns() {
    var schedule = Self.listed(capacity: 1_000, laneLimit: 1)
    schedule.offer(Self.entries(1...100))
    schedule.offer(Self.entries(1...1, of: Self.second))
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.next() == nil)
    var batches = 0
    while case .dispatch = schedule.work(of: Self.first, atMost: 1) { batches += 1 }
    #expect(batches > 0 && batches < 100)
    schedule.yield(Self.first)
    #expect(schedule.next() == .serve(Self.second))
    #expect(schedule.work(of: Self.second).sequences == [1])
    #expect(schedule.work(of: Self.second) == .done)
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.work(of: Self.first, atMost: 1).sequences == [Int64(batches) + 1])
  }

  @Test("a lane goes on as long as nobody waits for its place")
  func keepsItsPlace() {
    var schedule = Self.listed(capacity: 1_000, laneLimit: 1)
    schedule.offer(Self.entries(1...100))
    #expect(schedule.next() == .serve(Self.first))
    for sequence in Int64(1)...100 {
      #expect(schedule.work(of: Self.first, atMost: 1).sequences == [sequence])
    }
    #expect(schedule.work(of: Self.first) == .done)
  }

  @Test("a lane that another server has is given up, unless changes came since it was doubted")
  func abandons() {
    var schedule = Self.listed(capacity: 10)
    schedule.offer(Self.entries(1...2))
    #expect(schedule.next() == .serve(Self.first))
    schedule.doubtLease(of: Self.first)
    #expect(schedule.waitingCount == 0)
    schedule.offer(Self.entries(3...3))
    let isAbandonedEarly = schedule.abandon(Self.first)
    #expect(!isAbandonedEarly)
    schedule.doubtLease(of: Self.first)
    let isAbandoned = schedule.abandon(Self.first)
    #expect(isAbandoned)
    #expect(!schedule.isOpen(Self.first) && schedule.isSettled)
  }

  @Test("an outbox that could not be looked into is looked into again")
  func listsAgain() {
    var schedule = LaneSchedule(capacity: 10, laneLimit: 10)
    #expect(schedule.next() == .list)
    schedule.failListing()
    #expect(!schedule.isSettled)
    #expect(schedule.next() == .list)
    schedule.list([])
    #expect(schedule.isSettled)
  }

  @Test("after a doubtful commit the outbox is looked into again, until that succeeds")
  func doubts() {
    var schedule = Self.listed(capacity: 10)
    schedule.raiseDoubt()
    #expect(!schedule.isSettled)
    #expect(schedule.next() == .listAgain)
    // What is committed meanwhile is taken in.
    schedule.offer(Self.entries(2...2, of: Self.second))
    schedule.failListing()
    #expect(schedule.next() == .listAgain)
    schedule.list([Self.first])
    #expect(schedule.next() == .serve(Self.second))
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.work(of: Self.second).sequences == [2])
    #expect(schedule.work(of: Self.first) == .catchUp)
    #expect(schedule.next() == nil)
  }

  @Test("a doubt before the first look into the outbox needs no other look")
  func doubtsAtStart() {
    var schedule = LaneSchedule(capacity: 10, laneLimit: 10)
    schedule.raiseDoubt()
    #expect(schedule.next() == .list)
    schedule.raiseDoubt()
    schedule.list([])
    #expect(schedule.next() == .listAgain)
    schedule.list([])
    #expect(schedule.isSettled)
  }

  @Test("changes come in the order of their commits, in batches")
  func keepsOrder() {
    var schedule = Self.listed(capacity: 10)
    schedule.offer(Self.entries(1...2))
    schedule.offer(Self.entries(3...5))
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.work(of: Self.first, atMost: 3).sequences == [1, 2, 3])
    #expect(schedule.work(of: Self.first, atMost: 3).sequences == [4, 5])
    #expect(schedule.work(of: Self.first) == .done)
    #expect(schedule.isSettled)
    #expect(schedule.next() == nil)
  }

  @Test("a lane that wants more than half of the room reads the outbox; others go on in memory")
  func fallsBehind() {
    var schedule = Self.listed(capacity: 6)
    schedule.offer(Self.entries(1...5))
    schedule.offer(Self.entries(6...6))
    schedule.offer(Self.entries(1...2, of: Self.second))
    _ = (schedule.next(), schedule.next())
    #expect(schedule.work(of: Self.first).sequences == [1, 2, 3])
    #expect(schedule.work(of: Self.first) == .catchUp)
    #expect(schedule.work(of: Self.second).sequences == [1, 2])
    #expect(schedule.work(of: Self.second) == .done)
    schedule.beginCatchingUp(Self.first)
    schedule.offer(Self.entries(7...7))
    #expect(schedule.work(of: Self.first).sequences == [7])
    #expect(schedule.work(of: Self.first) == .done)
  }

  @Test("lanes share the room in memory, and what was taken out is free again")
  func sharesRoom() {
    var schedule = Self.listed(capacity: 4)
    for database in [Self.first, Self.second, Self.third] {
      schedule.offer(Self.entries(1...2, of: database))
      _ = schedule.next()
    }
    #expect(schedule.waitingCount == 4)
    #expect(schedule.isBehind(Self.third) && !schedule.isBehind(Self.second))
    #expect(schedule.work(of: Self.third) == .catchUp)
    schedule.fallBehind(Self.first)
    #expect(schedule.waitingCount == 2)
    #expect(schedule.work(of: Self.first) == .catchUp)
    schedule.beginCatchingUp(Self.third)
    schedule.offer(Self.entries(3...4, of: Self.third))
    #expect(schedule.work(of: Self.third).sequences == [3, 4])
    #expect(schedule.work(of: Self.second).sequences == [1, 2])
    #expect(schedule.waitingCount == 0)
  }

  @Test("no more lanes are served at once than may be; a lane that is done makes room")
  func limitsLanes() {
    var schedule = LaneSchedule(capacity: 10, laneLimit: 1)
    _ = schedule.next()
    schedule.list([])
    schedule.offer(Self.entries(1...1))
    schedule.offer(Self.entries(1...1, of: Self.second))
    #expect(schedule.next() == .serve(Self.first))
    #expect(schedule.next() == nil)
    _ = schedule.work(of: Self.first)
    #expect(schedule.work(of: Self.first) == .done)
    #expect(schedule.next() == .serve(Self.second))
    // A lane that was done and has news again comes last.
    schedule.offer(Self.entries(2...2))
    #expect(schedule.next() == nil)
  }

  @Test("what a lane keeps back goes when somebody waits, and keeps all from being settled")
  func keepsBack() {
    var schedule = Self.listed(capacity: 4)
    schedule.offer(Self.entries(1...1))
    _ = schedule.next()
    _ = schedule.work(of: Self.first)
    #expect(schedule.work(of: Self.first, atMost: 1, keepsBack: true) == nil)
    #expect(!schedule.isSettled)
    schedule.hasWaitingCaller = true
    #expect(schedule.work(of: Self.first, atMost: 1, keepsBack: true) == .idle)
    #expect(!schedule.isSettled)
    #expect(schedule.work(of: Self.first) == .done)
    #expect(schedule.isSettled)
  }

  @Test("stopping comes before all waiting changes")
  func stopsAtOnce() {
    var schedule = Self.listed(capacity: 4)
    schedule.offer(Self.entries(1...2))
    _ = schedule.next()
    schedule.stop()
    #expect(schedule.work(of: Self.first) == .stop)
    #expect(schedule.next() == .stop)
    #expect(schedule.isSettled)
  }

  @Test("a lane that waits is woken by its own changes, and the task for a new one by others'")
  func wakes() async {
    let handover = ChangeHandover(capacity: 4, laneLimit: 4)
    #expect(await handover.nextTask() == .list)
    handover.list([])
    async let task = handover.nextTask()
    handover.offer(Self.entries(1...1))
    #expect(await task == .serve(Self.first))
    #expect(await handover.work(of: Self.first, atMost: 4).sequences == [1])
    async let work = handover.work(of: Self.first, atMost: 4, within: 3600)
    handover.offer(Self.entries(2...2))
    #expect(await work.sequences == [2])
    handover.stop()
    #expect(await handover.nextTask() == .stop)
  }

  private static func listed(capacity: Int, laneLimit: Int = 10) -> LaneSchedule {
    var schedule = LaneSchedule(capacity: capacity, laneLimit: laneLimit)
    _ = schedule.next()
    schedule.list([])
    return schedule
  }

  private static func entries(
    _ sequences: ClosedRange<Int64>, of part: DatabasePart = first
  ) -> [OutboxEntry] {
    sequences.map { sequence in
      OutboxEntry(
        part: part, sequence: sequence, subscriptionVersion: 0,
        change: Change(
          event: .zoneCreated, zoneID: ZoneID(zoneName: "Notes"), record: nil,
          notificationID: UUID(), timestamp: Timestamp(milliseconds: 0)))
    }
  }
}

extension LaneSchedule {
  fileprivate mutating func work(of database: DatabasePart, atMost limit: Int = 10) -> Work? {
    work(of: database, atMost: limit, keepsBack: false)
  }
}

extension LaneSchedule.Work: Equatable {
  public static func == (left: LaneSchedule.Work, right: LaneSchedule.Work) -> Bool {
    switch (left, right) {
    case (.dispatch(let left), .dispatch(let right)): left == right
    case (.catchUp, .catchUp), (.idle, .idle), (.done, .done), (.stop, .stop),
      (.yield, .yield):
      true
    default: false
    }
  }

  fileprivate var sequences: [Int64] {
    guard case .dispatch(let entries) = self else { return [] }
    return entries.map(\.sequence)
  }
}

extension LaneSchedule.Work? {
  fileprivate var sequences: [Int64] { self?.sequences ?? [] }
}
