import PropertyTesting
import Testing

@testable import HTTP2Transport

struct KeepAliveTests {
  private let second: Int64 = 1_000_000_000
  private let intervals = KeepAlive.Intervals(
    whileBusy: .seconds(60), whileIdle: .seconds(3600), timeout: .seconds(20))

  @Test("A busy connection is asked after its silence, an idle one after a longer one")
  func asks() {
    var keepAlive = KeepAlive(intervals: intervals, now: 0)
    #expect(keepAlive.check(at: 59 * second, isBusy: true) == .wait(until: 60 * second))
    #expect(keepAlive.check(at: 60 * second, isBusy: false) == .wait(until: 3600 * second))
    #expect(keepAlive.check(at: 60 * second, isBusy: true) == .ping)
    #expect(keepAlive.check(at: 60 * second, isBusy: true) == .wait(until: 80 * second))
  }

  @Test("A peer is given up when it does not answer in time, and only then")
  func givesUp() {
    var keepAlive = KeepAlive(intervals: intervals, now: 0)
    #expect(keepAlive.check(at: 61 * second, isBusy: true) == .ping)
    #expect(keepAlive.check(at: 80 * second, isBusy: true) == .wait(until: 81 * second))
    var answered = keepAlive
    answered.received(at: 80 * second)
    #expect(answered.check(at: 81 * second, isBusy: true) == .wait(until: 140 * second))
    #expect(keepAlive.check(at: 81 * second, isBusy: true) == .giveUp)
  }

  @Test("Whatever arrives puts the question off")
  func signs() {
    var keepAlive = KeepAlive(intervals: intervals, now: 0)
    keepAlive.received(at: 50 * second)
    #expect(keepAlive.check(at: 100 * second, isBusy: true) == .wait(until: 110 * second))
  }
}

struct HTTP2HeadersTests {
  @Test("Fields keep their order, and the first of a name is found")
  func order() {
    var headers: HTTP2Headers = ["a": "1", "b": "", "": "x"]
    headers.append("a", "2", indexed: false)
    headers.append(contentsOf: ["c": "3"])
    #expect(headers.map(\.name) == ["a", "b", "", "a", "c"])
    #expect(headers.map(\.value) == ["1", "", "x", "2", "3"])
    #expect(headers["a"] == "1")
    #expect(headers["b"] == "")
    #expect(headers["c"] == "3")
    #expect(headers["d"] == nil)
  }
}

struct FIFOTests {
  @Test("A queue agrees with an array", arguments: Seeds.some(10))
  func againstModel(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var queue = FIFO<Int>()
    var model: [Int] = []
    for number in 0..<20_000 {
      // First it mostly grows, then it mostly shrinks.
      if Int.random(in: 0..<20_000, using: &generator) > number {
        queue.append(number)
        model.append(number)
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
      }
      guard queue.count == model.count, queue.isEmpty == model.isEmpty else {
        Issue.record("seed \(seed), step \(number): \(queue.count) instead of \(model.count)")
        return
      }
    }
    #expect(queue.removeAll() == model)
    #expect(queue.isEmpty)
  }
}
