import Testing

@testable import HTTPService

struct PaceTests {
  private let start = ContinuousClock.now
  private let limits = Pace.Limits(
    head: .seconds(10), line: .seconds(70), grace: .seconds(5), rate: 100)

  private func isSlow(_ pace: Pace, after seconds: Double) -> Bool {
    pace.isTooSlow(at: start + .seconds(seconds), limits)
  }

  private func pace(_ events: Pace.Event...) -> Pace {
    var pace = Pace(at: start)
    for event in events { pace.handle(event, at: start) }
    return pace
  }

  @Test("the request line has the time between requests and that of the head")
  func line() {
    #expect(!isSlow(pace(), after: 70))
    #expect(isSlow(pace(), after: 71))
    #expect(isSlow(pace(.lineReceived, .headReceived, .exchangeEnded), after: 71))
  }

  @Test("the head has its time from the request line on")
  func head() {
    #expect(!isSlow(pace(.lineReceived), after: 10))
    #expect(isSlow(pace(.lineReceived), after: 11))
  }

  @Test("a body must come at the rate once the grace is over, however its bytes are spread")
  func body() {
    let empty = pace(.lineReceived, .headReceived)
    #expect(!isSlow(empty, after: 5))
    #expect(isSlow(empty, after: 5.1))
    var some = empty
    some.handle(.bodyReceived(500), at: start + .seconds(4))
    some.handle(.bodyReceived(500), at: start + .seconds(14))
    #expect(!isSlow(some, after: 15))
    #expect(isSlow(some, after: 15.1))
  }

  @Test("who waits for the server is never too slow")
  func server() {
    #expect(!isSlow(pace(.lineReceived, .headReceived, .requestReceived), after: 1e6))
    #expect(
      !isSlow(
        pace(.lineReceived, .headReceived, .requestReceived, .answerBegan(size: nil)), after: 1e6))
  }

  @Test("an answer of known length must be taken at the rate")
  func answer() {
    let answer = pace(
      .lineReceived, .headReceived, .requestReceived, .answerBegan(size: 1000))
    #expect(!isSlow(answer, after: 15))
    #expect(isSlow(answer, after: 15.1))
  }
}
