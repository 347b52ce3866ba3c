import PropertyTesting
import Testing

@testable import PushDelivery

@Suite struct APNsConnectionTests {
  /// A connection that was opened and, unless told otherwise, has its first push answered.
  private func opened(limit: Int = 100, isProven: Bool = true) -> APNsConnection {
    var connection = APNsConnection()
    _ = connection.handle(.work)
    _ = connection.handle(.opened(limit: limit))
    if isProven {
      _ = connection.handle(.sent)
      _ = connection.handle(.answered(status: 200))
    }
    return connection
  }

  @Test("The first push opens a connection, the next ones wait for it")
  func connects() {
    var connection = APNsConnection()
    #expect(connection.capacity == 0)
    #expect(connection.handle(.work) == .connect)
    #expect(connection.handle(.work) == .none)
    #expect(connection.capacity == 0)
    #expect(connection.handle(.opened(limit: 1000)) == .none)
    #expect(connection.capacity == 1)
  }

  @Test("One push goes alone until it is answered, then as many as the peer allows")
  func firstAlone() {
    var connection = opened(limit: 3, isProven: false)
    _ = connection.handle(.sent)
    #expect(connection.capacity == 0)
    _ = connection.handle(.limitChanged(10))
    #expect(connection.capacity == 0)
    _ = connection.handle(.answered(status: 200))
    #expect(connection.phase == .open)
    #expect(connection.capacity == 10)
    for _ in 0..<10 { _ = connection.handle(.sent) }
    #expect(connection.capacity == 0)
    _ = connection.handle(.failed)
    #expect(connection.capacity == 1)
    _ = connection.handle(.limitChanged(2))
    #expect(connection.capacity == 0)
  }

  @Test(
    "An answer proves the provider token unless it speaks of tokens or of trouble",
    arguments: [
      (200, true), (400, true), (404, true), (405, true), (410, true), (413, true), (403, false),
      (429, false), (500, false), (503, false),
    ])
  func proof(status: Int, isProof: Bool) {
    var connection = opened(isProven: false)
    _ = connection.handle(.sent)
    _ = connection.handle(.answered(status: status))
    #expect(connection.phase == (isProof ? .open : .proving))
    #expect(connection.capacity == (isProof ? 100 : 1))
  }

  @Test("A first push without an answer is followed by another alone")
  func firstFails() {
    var connection = opened(isProven: false)
    _ = connection.handle(.sent)
    _ = connection.handle(.failed)
    #expect(connection.capacity == 1)
    #expect(connection.phase == .proving)
  }

  @Test("After a connection that worked the next push opens another at once, alone again")
  func endsAfterWork() {
    var connection = opened()
    _ = connection.handle(.sent)
    #expect(connection.handle(.ended(random: 0.5)) == .none)
    #expect(connection.capacity == 0)
    #expect(connection.handle(.work) == .connect)
    _ = connection.handle(.opened(limit: 100))
    #expect(connection.capacity == 1)
    #expect(connection.inFlight == 0)
  }

  @Test("Connections that never worked are followed later and later, until one works")
  func backsOff() {
    var connection = APNsConnection()
    for attempt in 0..<12 {
      #expect(connection.handle(.work) == .connect)
      if attempt.isMultiple(of: 2) { _ = connection.handle(.opened(limit: 10)) }
      let delay = RetryPolicy.reconnect.delay(attempt: attempt, random: 0.25)
      #expect(connection.handle(.ended(random: 0.25)) == .rest(seconds: delay))
      #expect(connection.handle(.work) == .none)
      #expect(connection.capacity == 0)
      #expect(connection.handle(.rested) == .none)
    }
    _ = connection.handle(.work)
    _ = connection.handle(.opened(limit: 10))
    _ = connection.handle(.sent)
    _ = connection.handle(.answered(status: 200))
    _ = connection.handle(.ended(random: 0.25))
    _ = connection.handle(.work)
    let first = RetryPolicy.reconnect.delay(attempt: 0, random: 0.25)
    #expect(connection.handle(.ended(random: 0.25)) == .rest(seconds: first))
  }

  @Test("A closed client does nothing more")
  func closed() {
    var connection = opened()
    _ = connection.handle(.close)
    for event in [.work, .opened(limit: 5), .rested, .ended(random: 0)] as [APNsConnection.Event] {
      #expect(connection.handle(event) == .none)
      #expect(connection.capacity == 0)
    }
    #expect(connection.phase == .closed)
  }

  @Test("Whatever happens in whatever order, the limits hold", arguments: 0..<50)
  func invariants(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var connection = APNsConnection()
    var isConnecting = false
    var isResting = false
    for step in 0..<2000 {
      let event: APNsConnection.Event
      switch Int.random(in: 0..<10, using: &generator) {
      case 0, 1: event = .work
      case 2 where isConnecting: event = .opened(limit: .random(in: 0..<5, using: &generator))
      case 3: event = .limitChanged(.random(in: 0..<5, using: &generator))
      case 4,
        5 where connection.capacity > 0:
        event = .sent
      case 6 where connection.inFlight > 0:
        event = .answered(status: [200, 403, 410].randomElement(using: &generator)!)
      case 7 where connection.inFlight > 0: event = .failed
      case 8 where connection.phase != .idle && !isResting:
        event = .ended(random: .random(in: 0..<1, using: &generator))
      case 9 where isResting: event = .rested
      default: continue
      }
      let capacity = connection.capacity
      let wasIdle = connection.phase == .idle
      if event == .sent, capacity == 0 { continue }
      let action = connection.handle(event)
      switch action {
      case .connect:
        #expect(wasIdle, "seed \(seed), step \(step)")
        isConnecting = true
      case .rest(let seconds):
        #expect(seconds > 0 && seconds <= 30, "seed \(seed), step \(step)")
        isResting = true
        isConnecting = false
      case .none:
        if case .opened = event { isConnecting = false }
        if event == .rested { isResting = false }
      }
      #expect(connection.inFlight >= 0, "seed \(seed), step \(step): \(event)")
      #expect(connection.capacity >= 0, "seed \(seed), step \(step): \(event)")
      if connection.phase == .proving {
        #expect(connection.inFlight <= 1, "seed \(seed), step \(step): \(event)")
      }
    }
  }
}
