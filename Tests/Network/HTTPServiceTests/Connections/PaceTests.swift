import Testing

@testable import HTTPService

struct PaceTests {
  private let start = ContinuousClock.now
  private let limits = Pace.Limits(
    head: .seconds(10), line: .seconds(70), grace: .seconds(5), rate: 100)

  private func isSlow(_ pace: Pace, after seconds: Double) -> Bool {
    pace.isTooSlow(at: start + .seconds(seconds))
  }

  private func pace(_ events: Pace.Event...) -> Pace {
    var pace = Pace(limits, at: start)
    for event in events { pace.handle(event, at: start) }
    return pace
  }

  @Test("the request line has the time between requests and that of the head")
  func line() {
    #expect(!isSlow(pace(), after: 70))
    #expect(isSlow(pace(), after: 71))
    #expect(isSlow(pace(.lineReceived, .serverAwaited, .exchangeEnded), after: 71))
  }

  @Test("the head has its time from the request line on")
  func head() {
    #expect(!isSlow(pace(.lineReceived), after: 10))
    #expect(isSlow(pace(.lineReceived), after: 11))
  }

  @Test("a body must come at the rate once the grace is over")
  func body() {
    let empty = pace(.lineReceived, .bodyAwaited(within: .seconds(1000)))
    #expect(!isSlow(empty, after: 5))
    #expect(isSlow(empty, after: 5.1))
    // 300 bytes are worth three seconds.
    var some = empty
    some.handle(.bodyReceived(300), at: start + .seconds(4))
    #expect(!isSlow(some, after: 8))
    #expect(isSlow(some, after: 8.1))
  }

  @Test("much at once and then a byte now and then is too slow")
  func burst() {
    var pace = pace(.lineReceived, .bodyAwaited(within: .seconds(10_000)))
    pace.handle(.bodyReceived(8 << 20), at: start + .seconds(1))
    var ended: Int?
    for second in 2..<1000 where ended == nil {
      pace.handle(.bodyReceived(1), at: start + .seconds(second))
      if isSlow(pace, after: Double(second)) { ended = second }
    }
    // The grace counts from the large piece on, and each byte adds a hundredth of a second.
    #expect(ended == 7)
  }

  @Test("a body at the rate is in time to its end, in pieces of any size that fit into the grace")
  func steady() {
    for interval in [0.1, 1, 4.9] {
      var pace = pace(.lineReceived, .bodyAwaited(within: .seconds(1000)))
      var second = 0.0
      while second < 500 {
        second += interval
        #expect(!isSlow(pace, after: second), "\(interval) \(second)")
        pace.handle(.bodyReceived(Int((interval * 100).rounded(.up))), at: start + .seconds(second))
      }
    }
  }

  @Test("a body has an end, however steadily it comes")
  func end() {
    var pace = pace(.lineReceived, .bodyAwaited(within: .seconds(60)))
    for second in 1...61 { pace.handle(.bodyReceived(10_000), at: start + .seconds(second)) }
    #expect(!isSlow(pace, after: 60))
    #expect(isSlow(pace, after: 60.1))
  }

  @Test("who waits for the server is never too slow, before the body, after it and in a stream")
  func server() {
    #expect(!isSlow(pace(.lineReceived, .serverAwaited), after: 1e6))
    #expect(
      !isSlow(
        pace(.lineReceived, .serverAwaited, .answerBegan(0), .answerTaken(10), .serverAwaited),
        after: 1e6))
  }

  @Test("an answer must be taken at the rate, and much that was taken before does not help")
  func answer() {
    let whole = pace(.lineReceived, .serverAwaited, .answerBegan(1000))
    #expect(!isSlow(whole, after: 15))
    #expect(isSlow(whole, after: 15.1))
    var pieces = pace(.lineReceived, .serverAwaited, .answerBegan(0))
    for _ in 0..<1000 { pieces.handle(.answerTaken(100), at: start + .seconds(2)) }
    #expect(!isSlow(pieces, after: 7))
    #expect(isSlow(pieces, after: 7.1))
  }

  @Test(
    "each piece of an answer has the time that the rate gives it, if that is more than the grace")
  func largePieces() {
    var pace = pace(.lineReceived, .serverAwaited, .answerBegan(0))
    for number in 0..<10 {
      let second = Double(number) * 20
      #expect(!isSlow(pace, after: second))
      pace.handle(.answerTaken(2000), at: start + .seconds(second))
    }
  }

  @Test("a stream begins with the grace each time the server has bytes again")
  func stream() {
    var pace = pace(.lineReceived, .serverAwaited, .answerBegan(0), .serverAwaited)
    pace.handle(.answerTaken(1), at: start + .seconds(1000))
    #expect(!isSlow(pace, after: 1005))
    #expect(isSlow(pace, after: 1005.1))
  }
}
