import PropertyTesting
import Testing

@testable import PushChannels

struct APNsConnectionPoolTests {
  private let limits = APNsConnectionPool.Limits(
    connections: 3, fullness: .nanoseconds(50), idleness: .nanoseconds(1000))

  /// A pool with one proven connection of `limit` streams, all of them in use if it is full.
  private func proven(limit: Int = 2, isFull: Bool = false) -> APNsConnectionPool {
    var pool = APNsConnectionPool(limits: limits)
    #expect(pool.handle(.waiting(1), at: 0) == .connect(1))
    prove(&pool, 1, limit: limit)
    if isFull { fill(&pool) }
    return pool
  }

  private func prove(
    _ pool: inout APNsConnectionPool, _ number: Int, limit: Int = 2, at now: Int64 = 0
  ) {
    _ = pool.handle(.opened(number, limit: limit), at: now)
    _ = pool.handle(.sent(number), at: now)
    _ = pool.handle(.finished(number, status: 200), at: now)
  }

  private func fill(_ pool: inout APNsConnectionPool) {
    while let next = pool.next { _ = pool.handle(.sent(next.number), at: 0) }
  }

  @Test("The first push opens a connection, the next ones wait for it")
  func connects() {
    var pool = APNsConnectionPool(limits: limits)
    #expect(pool.next == nil)
    #expect(pool.handle(.waiting(0), at: 0) == .none)
    #expect(pool.handle(.waiting(1), at: 0) == .connect(1))
    #expect(pool.handle(.waiting(9), at: 1000) == .none)
    #expect(pool.next == nil)
    #expect(pool.handle(.opened(1, limit: 1000), at: 0) == .none)
    #expect(pool.next?.capacity == 1)
    // It is full, but proves nothing about the need for another before it is proven itself.
    _ = pool.handle(.sent(1), at: 0)
    #expect(pool.handle(.waiting(9), at: 5000) == .none)
  }

  @Test("Another connection is opened when all were full for a time, one after the other")
  func grows() {
    var pool = proven(isFull: true)
    #expect(pool.handle(.waiting(5), at: 100) == .lookAgain(after: .nanoseconds(50)))
    #expect(pool.handle(.waiting(5), at: 130) == .lookAgain(after: .nanoseconds(20)))
    #expect(pool.handle(.waiting(5), at: 150) == .connect(2))
    #expect(pool.handle(.waiting(5), at: 900) == .none)
    prove(&pool, 2)
    fill(&pool)
    #expect(pool.handle(.waiting(5), at: 900) == .lookAgain(after: .nanoseconds(50)))
    #expect(pool.handle(.waiting(5), at: 950) == .connect(3))
    prove(&pool, 3)
    fill(&pool)
    #expect(pool.handle(.waiting(5), at: 5000) == .none)
    #expect(pool.handle(.waiting(5), at: 6000) == .none)
  }

  @Test("A rush that is over before the time opens none")
  func shortRush() {
    var pool = proven(isFull: true)
    _ = pool.handle(.waiting(5), at: 100)
    _ = pool.handle(.waiting(0), at: 120)
    #expect(pool.handle(.waiting(5), at: 150) == .lookAgain(after: .nanoseconds(50)))
  }

  @Test("Pushes go to the oldest connection that has room; the idle ones are closed but for one")
  func shrinks() {
    var pool = proven(isFull: true)
    _ = pool.handle(.waiting(5), at: 0)
    _ = pool.handle(.waiting(5), at: 50)
    prove(&pool, 2, at: 100)
    #expect(pool.next?.number == 2)
    _ = pool.handle(.finished(1, status: 200), at: 100)
    #expect(pool.next?.number == 1)
    _ = pool.handle(.finished(1, status: 200), at: 200)
    #expect(pool.handle(.timePassed, at: 1099) == .none)
    #expect(pool.handle(.timePassed, at: 1100) == .end([2]))
    #expect(pool.handle(.timePassed, at: 9000) == .none)
    #expect(pool.connections.map(\.number) == [1])
  }

  @Test("After a connection that was proven the next push opens another at once")
  func endsAfterWork() {
    var pool = proven()
    _ = pool.handle(.sent(1), at: 0)
    #expect(pool.handle(.ended(1, isOrderly: false, random: 0.5), at: 0) == .none)
    #expect(pool.next == nil)
    #expect(pool.handle(.waiting(1), at: 0) == .connect(2))
    _ = pool.handle(.opened(2, limit: 100), at: 0)
    #expect(pool.next?.capacity == 1)
    // What comes late from the first does not count for the second.
    _ = pool.handle(.finished(1, status: 200), at: 0)
    #expect(pool.next?.capacity == 1)
  }

  @Test("Connections that were never proven are followed later and later, until one is")
  func backsOff() {
    var pool = APNsConnectionPool(limits: limits)
    for attempt in 0..<12 {
      #expect(pool.handle(.waiting(1), at: 0) == .connect(attempt + 1))
      if attempt.isMultiple(of: 2) { _ = pool.handle(.opened(attempt + 1, limit: 10), at: 0) }
      let delay = PushRetryPolicy.reconnect.delay(attempt: attempt, random: 0.25)
      #expect(
        pool.handle(.ended(attempt + 1, isOrderly: false, random: 0.25), at: 0)
          == .pause(seconds: delay, failsWaiting: true))
      #expect(pool.handle(.waiting(1), at: 0) == .none)
      #expect(pool.handle(.pauseEnded, at: 0) == .none)
    }
    _ = pool.handle(.waiting(1), at: 0)
    prove(&pool, 13)
    _ = pool.handle(.ended(13, isOrderly: false, random: 0.25), at: 0)
    _ = pool.handle(.waiting(1), at: 0)
    let first = PushRetryPolicy.reconnect.delay(attempt: 0, random: 0.25)
    #expect(
      pool.handle(.ended(14, isOrderly: false, random: 0.25), at: 0)
        == .pause(seconds: first, failsWaiting: true))
  }

  @Test("While another connection works, one that cannot be had fails nothing")
  func secondFails() {
    var pool = proven(isFull: true)
    _ = pool.handle(.waiting(5), at: 0)
    #expect(pool.handle(.waiting(5), at: 50) == .connect(2))
    let first = PushRetryPolicy.reconnect.delay(attempt: 0, random: 0)
    #expect(
      pool.handle(.ended(2, isOrderly: false, random: 0), at: 60)
        == .pause(seconds: first, failsWaiting: false))
    #expect(pool.handle(.waiting(5), at: 500) == .none)
    _ = pool.handle(.pauseEnded, at: 600)
    #expect(pool.handle(.waiting(5), at: 600) == .lookAgain(after: .nanoseconds(50)))
    #expect(pool.handle(.waiting(5), at: 650) == .connect(3))
  }

  @Test("An orderly end before the proof costs no push, unless it comes again and again")
  func orderlyEnds() {
    var pool = APNsConnectionPool(limits: limits)
    for attempt in 0..<5 {
      _ = pool.handle(.waiting(1), at: 0)
      _ = pool.handle(.opened(attempt + 1, limit: 10), at: 0)
      let action = pool.handle(.ended(attempt + 1, isOrderly: true, random: 0), at: 0)
      let delay = PushRetryPolicy.reconnect.delay(attempt: attempt, random: 0)
      #expect(action == .pause(seconds: delay, failsWaiting: attempt >= 3))
      _ = pool.handle(.pauseEnded, at: 0)
    }
  }

  @Test("A connection whose key is refused is left at once; the next one, refused again, backs off")
  func refused() {
    var pool = proven()
    #expect(pool.handle(.refused(1, random: 0), at: 0) == .none)
    #expect(pool.next == nil)
    #expect(pool.handle(.waiting(1), at: 0) == .connect(2))
    _ = pool.handle(.opened(2, limit: 10), at: 0)
    let first = PushRetryPolicy.reconnect.delay(attempt: 0, random: 0)
    #expect(
      pool.handle(.refused(2, random: 0), at: 0) == .pause(seconds: first, failsWaiting: true))
    #expect(pool.handle(.refused(2, random: 0), at: 0) == .none)
  }

  @Test("A closed pool does nothing more")
  func closed() {
    var pool = proven()
    _ = pool.handle(.close, at: 0)
    for event in [
      .waiting(1), .opened(1, limit: 5), .pauseEnded, .ended(1, isOrderly: false, random: 0),
    ] as [APNsConnectionPool.Event] {
      #expect(pool.handle(event, at: 0) == .none)
      #expect(pool.next == nil)
    }
    #expect(pool.isClosed)
  }

  @Test("Whatever happens in whatever order, the limits hold", arguments: Seeds.some(50))
  func invariants(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var pool = APNsConnectionPool(limits: limits)
    var opening: Set<Int> = []
    var inFlight: [Int: Int] = [:]
    var now: Int64 = 0
    for step in 0..<3000 {
      let place: Comment = "seed \(seed), step \(step)"
      now += .random(in: 0..<60, using: &random)
      let some = pool.connections.randomElement(using: &random)?.number
      let event: APNsConnectionPool.Event
      switch (Int.random(in: 0..<12, using: &random), some) {
      case (0...1, _): event = .waiting(.random(in: 0..<3, using: &random))
      case (2, let number?) where opening.contains(number):
        opening.remove(number)
        event = .opened(number, limit: .random(in: 0..<5, using: &random))
      case (3, let number?) where !opening.contains(number):
        event = .limitChanged(number, limit: .random(in: 0..<5, using: &random))
      case (4...6, _):
        guard let next = pool.next else { continue }
        #expect(next.capacity > 0, place)
        inFlight[next.number, default: 0] += 1
        event = .sent(next.number)
      case (7...8, let number?) where inFlight[number, default: 0] > 0:
        inFlight[number]! -= 1
        event = .finished(number, status: [nil, 200, 403, 503].randomElement(using: &random)!)
      case (9, let number?):
        event = .ended(
          number, isOrderly: .random(using: &random), random: .random(in: 0..<1, using: &random))
      case (10, _) where pool.isPaused: event = .pauseEnded
      case (11, _): event = .timePassed
      default: continue
      }
      let before = pool.connections
      switch pool.handle(event, at: now) {
      case .connect(let number):
        #expect(before.allSatisfy { $0.number < number && $0.phase == .open }, place)
        opening.insert(number)
      case .pause(let seconds, let failsWaiting):
        #expect(seconds > 0 && seconds <= 30, place)
        #expect(!failsWaiting || pool.connections.isEmpty, place)
      case .end(let numbers):
        #expect(numbers.allSatisfy { inFlight[$0, default: 0] == 0 }, place)
        #expect(!pool.connections.isEmpty, place)
      case .none, .lookAgain:
        break
      }
      #expect(pool.connections.count <= 3, place)
      for connection in pool.connections {
        #expect(connection.inFlight == inFlight[connection.number, default: 0], place)
        if connection.phase == .proving { #expect(connection.inFlight <= 1, place) }
      }
    }
  }
}
