import PropertyTesting
import Testing

@testable import DatabaseAPI

struct FairQueueTests {
  private static let limits: FairQueue.Limits = {
    var limits = FairQueue.Limits()
    limits.long = 0.01
    limits.little = 0
    limits.longAtOnce = 2
    limits.shortOfCaller = 4
    limits.shortSecondsOfCaller = 0.02
    limits.waitingOfCaller = 6
    limits.waiting = 10
    limits.waitingSecondsOfCaller = 0.03
    limits.alone = 1
    limits.halfLife = 1
    return limits
  }()

  private func caller(_ name: String) -> FairQueue.Caller {
    FairQueue.Caller(subject: .user, name: name)
  }

  /// A queue that three callers use, of whom it is known that they ask for what is cheap.
  private func busy(_ limits: FairQueue.Limits = limits) -> Queue {
    let queue = Queue(limits)
    for (name, operation) in ["a", "b", "c"].flatMap({ name in
      ["q", "save"].map { (name, $0) }
    }) {
      if let ticket = queue.enter(0, of: caller(name), operation, least: 0, at: 0).ticket {
        _ = queue.leave(ticket, after: 0, at: 0)
      }
    }
    return queue
  }

  @Test("one who is alone waits for nothing, and again when the others have been gone for a second")
  func alone() {
    let queue = Queue(Self.limits)
    for number in 0..<100 {
      #expect(queue.enter(number, of: caller("a"), "query", least: 1, at: 0).isBegun)
    }
    #expect(queue.enter(100, of: caller("b"), "query", least: 1, at: 0.5) == .wait)
    #expect(queue.enter(101, of: caller("a"), "query", least: 1, at: 0.6) == .wait)
    #expect(queue.enter(102, of: caller("a"), "query", least: 1, at: 1.7).isBegun)
  }

  @Test("long requests are worked on a few at a time, and callers take turns")
  func turns() throws {
    let queue = busy()
    var tickets: [FairQueue.Ticket] = []
    for number in 1...2 {
      tickets.append(
        try #require(queue.enter(number, of: caller("a"), "q", least: 1, at: 0).ticket))
    }
    for (number, name) in [(3, "a"), (4, "a"), (5, "b"), (6, "c"), (7, "b")] {
      #expect(queue.enter(number, of: caller(name), "q", least: 1, at: 0) == .wait)
    }
    #expect(queue.enter(8, of: caller("a"), "save", least: 0, at: 0).isBegun)
    #expect(queue.waiting == 5)
    var order: [Int] = []
    while let ticket = tickets.popLast() {
      for begun in queue.leave(ticket, after: 1, at: 0) {
        order.append(begun.number)
        tickets.append(begun.ticket)
      }
    }
    #expect(order == [3, 5, 6, 4, 7])
    #expect(queue.waiting == 0)
  }

  @Test("of one caller's short requests so many are in hand as take little time together")
  func short() throws {
    let queue = busy()
    let first = try #require(queue.enter(1, of: caller("a"), "q", least: 0.009, at: 0).ticket)
    #expect(queue.enter(2, of: caller("a"), "q", least: 0.009, at: 0).isBegun)
    #expect(queue.enter(3, of: caller("a"), "q", least: 0.009, at: 0) == .wait)
    #expect(queue.enter(4, of: caller("a"), "q", least: 0.001, at: 0).isBegun)
    #expect(queue.enter(5, of: caller("b"), "q", least: 0.009, at: 0).isBegun)
    #expect(queue.leave(first, after: 0.009, at: 0).map(\.number) == [3])
  }

  @Test("no more of them are in hand than a few, however little they take")
  func few() {
    let queue = busy()
    for number in 0..<4 {
      #expect(queue.enter(number, of: caller("a"), "q", least: 0, at: 0).isBegun)
    }
    #expect(queue.enter(4, of: caller("a"), "save", least: 0, at: 0) == .wait)
    #expect(queue.enter(5, of: caller("b"), "save", least: 0, at: 0).isBegun)
  }

  @Test("of an operation of which nothing is known one is tried, and the others go by what it took")
  func probe() throws {
    let queue = busy()
    let first = try #require(queue.enter(1, of: caller("a"), "new", least: 0, at: 0).ticket)
    for number in 2...6 {
      #expect(queue.enter(number, of: caller("a"), "new", least: 0, at: 0) == .wait)
    }
    #expect(queue.leave(first, after: 0.001, at: 0).map(\.number) == [2, 3, 4, 5])

    let second = try #require(queue.enter(7, of: caller("b"), "new", least: 0, at: 0).ticket)
    for number in 8...9 {
      #expect(queue.enter(number, of: caller("b"), "new", least: 0, at: 0) == .wait)
    }
    let begun = queue.leave(second, after: 1, at: 0)
    #expect(begun.map(\.number) == [8, 9])
    #expect(begun.map(\.ticket.isLong) == [true, true])
    #expect(queue.enter(10, of: caller("c"), "q", least: 1, at: 0) == .wait)
  }

  @Test("of those that are found to be long no more wait than may; the others are refused")
  func foundLong() throws {
    var limits = Self.limits
    limits.waitingSecondsOfCaller = 1
    let queue = busy(limits)
    let probe = try #require(queue.enter(1, of: caller("a"), "new", least: 0, at: 0).ticket)
    for number in 2...20 {
      #expect(queue.enter(number, of: caller("a"), "new", least: 0, at: 0) == .wait)
    }
    #expect(queue.leave(probe, after: 1, at: 0).map(\.number) == [2, 3])
    #expect(queue.refused == Array(12...20))
    #expect(queue.waiting == 8)
  }

  @Test("of those that are found to take longer so many wait as take little time together")
  func foundLonger() throws {
    let queue = busy()
    let probe = try #require(queue.enter(1, of: caller("a"), "new", least: 0, at: 0).ticket)
    for number in 2...20 {
      #expect(queue.enter(number, of: caller("a"), "new", least: 0, at: 0) == .wait)
    }
    #expect(queue.leave(probe, after: 0.009, at: 0).map(\.number) == [2, 3])
    #expect(queue.refused == Array(5...20))
    #expect(queue.waiting == 1)
  }

  @Test("a request that took long is long the next time, until that is forgotten")
  func memory() throws {
    let queue = busy()
    let attacker = caller("a")
    let first = try #require(queue.enter(1, of: attacker, "q", least: 0, at: 0).ticket)
    _ = queue.leave(first, after: 0.08, at: 0)
    var held: [FairQueue.Ticket] = []
    for number in 2...3 {
      held.append(try #require(queue.enter(number, of: attacker, "q", least: 0, at: 0.1).ticket))
    }
    #expect(held.map(\.isLong) == [true, true])
    #expect(queue.enter(4, of: attacker, "q", least: 0, at: 0.1) == .wait)
    // It is of one caller and one operation.
    #expect(queue.enter(5, of: attacker, "save", least: 0, at: 0.1).isBegun)
    #expect(queue.enter(6, of: caller("b"), "q", least: 0, at: 0.1).isBegun)
    queue.withdraw(4, of: attacker)
    // A quick one between two dear ones hides nothing.
    for ticket in held { _ = queue.leave(ticket, after: 0.001, at: 0.2) }
    for number in 7...8 {
      #expect(queue.enter(number, of: attacker, "q", least: 0, at: 1).ticket?.isLong == true)
    }
    _ = queue.enter(9, of: caller("b"), "q", least: 0, at: 3.5)
    #expect(queue.enter(10, of: attacker, "q", least: 0, at: 4).ticket?.isLong == false)
  }

  @Test("who asks for little in all does not ask for long requests, whatever one of them took")
  func little() throws {
    var limits = Self.limits
    limits.little = 0.05
    let queue = busy(limits)
    var first = try #require(queue.enter(1, of: caller("a"), "q", least: 0, at: 0).ticket)
    _ = queue.leave(first, after: 0.02, at: 0)
    // Two at a time, for one takes half as long on average.
    first = try #require(queue.enter(2, of: caller("a"), "q", least: 0, at: 0.1).ticket)
    #expect(!first.isLong)
    #expect(queue.enter(3, of: caller("a"), "q", least: 0, at: 0.1).ticket?.isLong == false)
    #expect(queue.enter(4, of: caller("a"), "q", least: 0, at: 0.1) == .wait)
    #expect(queue.leave(first, after: 0.02, at: 0.1).map(\.ticket.isLong) == [true])
    // A large one is long by itself.
    #expect(queue.enter(5, of: caller("b"), "q", least: 0.06, at: 0.1).ticket?.isLong == true)
  }

  @Test("one save that the store held up refuses none of the caller's next ones")
  func heldUp() throws {
    let queue = Queue(FairQueue.Limits())
    // Two callers, so the rules hold. The saves of the first take a millisecond each.
    for number in 0..<1_000 {
      let ticket = try #require(
        queue.enter(number, of: caller("a"), "save", least: 0, at: 0).ticket)
      _ = queue.leave(ticket, after: number == 500 ? 0.1 : 0.001, at: 0)
    }
    let other = try #require(queue.enter(1_000, of: caller("b"), "q", least: 0, at: 0).ticket)
    _ = queue.leave(other, after: 0.001, at: 0)
    var tickets: [FairQueue.Ticket] = []
    for number in 1..<33 {
      let verdict = queue.enter(number, of: caller("a"), "save", least: 0, at: 0.1)
      #expect(verdict != .refuse)
      if let ticket = verdict.ticket {
        #expect(!ticket.isLong)
        tickets.append(ticket)
      }
    }
    #expect(tickets.count == 8)
    var done = 0
    while let ticket = tickets.popLast() {
      done += 1
      tickets += queue.leave(ticket, after: 0.001, at: 0.1).map(\.ticket)
    }
    #expect(done == 32)
    #expect(queue.refused == [])
  }

  @Test("a caller whose long requests wait only for each other may have more of them wait")
  func waitsForItself() {
    let queue = busy()
    for number in 0..<2 {
      #expect(queue.enter(number, of: caller("a"), "q", least: 1, at: 0).isBegun)
    }
    for number in 2..<12 {
      #expect(queue.enter(number, of: caller("a"), "q", least: 1, at: 0) == .wait)
    }
    #expect(queue.enter(12, of: caller("a"), "q", least: 1, at: 0) == .refuse)
    #expect(queue.enter(13, of: caller("b"), "q", least: 1, at: 0) == .wait)
    for number in 2..<5 { queue.withdraw(number, of: caller("a")) }
    // Now it waits for another as well.
    #expect(queue.enter(14, of: caller("a"), "q", least: 1, at: 0) == .refuse)
  }

  @Test("what is known has a limit, and of what is beyond it nothing is known")
  func forgetting() throws {
    var limits = Self.limits
    limits.memory = 3
    let queue = Queue(limits)
    for name in 0..<5 {
      let ticket = try #require(
        queue.enter(name, of: caller("\(name)"), "q", least: 0, at: 0).ticket)
      _ = queue.leave(ticket, after: 1, at: 0)
    }
    var isLong: [Bool] = []
    for name in 2..<5 {
      let ticket = try #require(
        queue.enter(name, of: caller("\(name)"), "q", least: 0, at: 0).ticket)
      isLong.append(ticket.isLong)
      _ = queue.leave(ticket, after: 0, at: 0)
    }
    #expect(isLong == [true, false, false])
    // The queue forgets what nobody has asked for in a while, and learns of others.
    for name in 3..<5 {
      let ticket = try #require(
        queue.enter(name, of: caller("\(name)"), "save", least: 0, at: 9).ticket)
      _ = queue.leave(ticket, after: 1, at: 9)
      #expect(
        queue.enter(name, of: caller("\(name)"), "save", least: 0, at: 9).ticket?.isLong == true)
    }
  }

  @Test(
    "who has too many waiting is refused, and so is everybody's second when too many wait in all")
  func limits() {
    let queue = busy()
    for number in 0..<2 { _ = queue.enter(number, of: caller("a"), "q", least: 1, at: 0) }
    #expect(queue.enter(9, of: caller("b"), "q", least: 1, at: 0) == .wait)
    for number in 2..<8 {
      #expect(queue.enter(number, of: caller("a"), "q", least: 1, at: 0) == .wait)
    }
    #expect(queue.enter(8, of: caller("a"), "q", least: 1, at: 0) == .refuse)
    for number in 10..<13 {
      #expect(queue.enter(number, of: caller("b"), "q", least: 1, at: 0) == .wait)
    }
    #expect(queue.enter(13, of: caller("b"), "q", least: 1, at: 0) == .refuse)
    // One of each may wait all the same.
    #expect(queue.enter(23, of: caller("c"), "q", least: 1, at: 0) == .wait)
    #expect(queue.enter(24, of: caller("c"), "q", least: 1, at: 0) == .refuse)
    queue.withdraw(23, of: caller("c"))
    #expect(queue.enter(14, of: caller("c"), "q", least: 0, at: 0).isBegun)
    queue.withdraw(5, of: caller("a"))
    #expect(queue.enter(15, of: caller("c"), "q", least: 1, at: 0) == .wait)
    // Of short ones it is the time that counts.
    for number in 16..<18 { _ = queue.enter(number, of: caller("b"), "q", least: 0.009, at: 0) }
    for number in 18..<21 {
      #expect(queue.enter(number, of: caller("b"), "q", least: 0.009, at: 0) == .wait)
    }
    #expect(queue.enter(21, of: caller("b"), "q", least: 0.009, at: 0) == .refuse)
    queue.withdraw(19, of: caller("b"))
    #expect(queue.enter(22, of: caller("b"), "q", least: 0.009, at: 0) == .wait)
  }

  @Test(
    "whatever comes, nothing waits that may begin, and each caller's come in order",
    arguments: Seeds.some(40))
  func property(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    let queue = busy()
    var waiting: [(number: Int, name: String, isLong: Bool)] = []
    var inHand: [Int: (name: String, seconds: Double, ticket: FairQueue.Ticket)] = [:]
    var now = 0.0

    func check() {
      let long = inHand.values.count { $0.seconds >= 0.01 }
      #expect(long <= 2)
      #expect(queue.waiting == waiting.count)
      if waiting.contains(where: \.isLong) { #expect(long == 2) }
      for name in ["a", "b", "c"] {
        let short = inHand.values.filter { $0.name == name && $0.seconds < 0.01 }
        let seconds = short.reduce(0) { $0 + $1.seconds }
        #expect(short.count <= 1 || short.count <= 4 && seconds < 0.02 + 1e-9)
        let waits = waiting.contains { $0.name == name && !$0.isLong }
        #expect(!waits || !short.isEmpty)
      }
    }
    func leave(_ number: Int) throws {
      let ticket = try #require(inHand[number]?.ticket)
      inHand[number] = nil
      for begun in queue.leave(ticket, after: 0, at: now) {
        let found = waiting.firstIndex { $0.number == begun.number }
        let place = try #require(found)
        let item = waiting.remove(at: place)
        let overtaken = waiting[..<place].filter {
          $0.name == item.name && $0.isLong == item.isLong
        }
        #expect(overtaken.isEmpty)
        inHand[item.number] = (item.name, seconds[item.number] ?? 0, begun.ticket)
      }
    }
    var seconds: [Int: Double] = [:]
    for number in 1...400 {
      // Several callers within each second.
      now += 0.01
      let name = generator.pick(["a", "b", "c"])
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1:
        let least = generator.pick([0.0, 0.004, 0.009, 0.01, 1])
        seconds[number] = least
        switch queue.enter(number, of: caller(name), "q", least: least, at: now) {
        case .begin(let ticket): inHand[number] = (name, least, ticket)
        case .wait: waiting.append((number, name, least >= 0.01))
        case .refuse:
          let like = waiting.filter { $0.isLong == (least >= 0.01) }
          let ofCaller = like.filter { $0.name == name }
          let time = ofCaller.reduce(least) { $0 + max(0.0001, seconds[$1.number] ?? 0) }
          #expect(
            least >= 0.01
              ? like.count >= 10 && !ofCaller.isEmpty
                || ofCaller.count >= 6 && like.count > ofCaller.count
              : time > 0.03 - 1e-9)
        }
      case 2, 3:
        if let some = inHand.keys.sorted().randomElement(using: &generator) { try leave(some) }
      default:
        if let place = waiting.indices.randomElement(using: &generator) {
          let item = waiting.remove(at: place)
          queue.withdraw(item.number, of: caller(item.name))
        }
      }
      check()
    }
    while let some = inHand.keys.min() { try leave(some) }
    #expect(waiting.isEmpty)
    #expect(queue.waiting == 0)
  }
}

extension FairQueue.Verdict {
  fileprivate var ticket: FairQueue.Ticket? {
    if case .begin(let ticket) = self { ticket } else { nil }
  }

  fileprivate var isBegun: Bool { ticket != nil }
}

/// A queue by reference: what tests expect cannot change a value.
private final class Queue {
  private var value: FairQueue
  /// The requests that were refused when another one was done.
  private(set) var refused: [Int] = []

  init(_ limits: FairQueue.Limits) { value = FairQueue(limits: limits) }

  var waiting: Int { value.waiting }

  func enter(
    _ number: Int, of caller: FairQueue.Caller, _ operation: String, least: Double, at now: Double
  ) -> FairQueue.Verdict {
    value.enter(number, of: caller, operation, least: least, at: now)
  }

  func leave(
    _ ticket: FairQueue.Ticket, after seconds: Double, at now: Double
  ) -> [(number: Int, ticket: FairQueue.Ticket)] {
    value.leave(ticket, after: seconds, at: now).compactMap { number, verdict in
      if verdict == .refuse { refused.append(number) }
      return verdict.ticket.map { (number, $0) }
    }
  }

  func withdraw(_ number: Int, of caller: FairQueue.Caller) { value.withdraw(number, of: caller) }
}
