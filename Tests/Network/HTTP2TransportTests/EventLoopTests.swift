import Foundation
import PropertyTesting
import Testing
import Waiting

@testable import HTTP2Transport

struct EventLoopTests {
  @Test("What is given to a loop runs on its thread in order")
  func order() async throws {
    let loop = try EventLoop(name: "test")
    let recorder = Recorder<Int>()
    for number in 0..<1000 {
      loop.execute { recorder.record(loop.isCurrent ? number : -1) }
    }
    #expect(try await recorder.wait(count: 1000) == Array(0..<1000))
    #expect(!loop.isCurrent)
    loop.shutDown()
  }

  @Test("Timers run in the order of their times, and not when they were cancelled")
  func timers() async throws {
    let loop = try EventLoop(name: "test")
    let recorder = Recorder<Int>()
    loop.execute {
      for number in [3, 1, 4, 2, 5] {
        let timer = loop.schedule(after: .milliseconds(10 * number)) { recorder.record(number) }
        if number == 4 { loop.cancel(timer) }
      }
    }
    #expect(try await recorder.wait(count: 4) == [1, 2, 3, 5])
    loop.shutDown()
  }

  @Test("A loop that was shut down takes nothing more")
  func shutDown() async throws {
    let loop = try EventLoop(name: "test")
    let recorder = Recorder<Int>()
    #expect(loop.execute { recorder.record(1) })
    loop.shutDown()
    #expect(try await recorder.wait(count: 1) == [1])
    try await eventually("the loop ends") { !loop.execute { recorder.record(2) } }
    #expect(!loop.execute { recorder.record(3) })
    #expect(!recorder.elements.contains(3))
  }

  @Test("A loop that was shut down goes, whatever its timers would have used")
  func release() async throws {
    weak let loop = try Self.loopWithTimer()
    try await eventually("it is gone") { loop == nil }
  }

  private static func loopWithTimer() throws -> EventLoop {
    let loop = try EventLoop(name: "test")
    loop.schedule(after: .seconds(1_000)) { loop.execute {} }
    loop.shutDown()
    return loop
  }

  @Test("The timer queue agrees with a sorted list", arguments: Seeds.some(20))
  func againstModel(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    let fired = Recorder<UInt64>()
    var queue = TimerQueue()
    var model: [(deadline: Int64, id: UInt64)] = []
    var expected: [UInt64] = []
    for id in 0..<1000 as Range<UInt64> {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0, 1:
        let deadline = Int64.random(in: 0..<500, using: &generator)
        queue.insert(id: id, deadline: deadline) { fired.record(id) }
        model.append((deadline, id))
      case 2:
        guard let timer = model.randomElement(using: &generator) else { continue }
        queue.cancel(id: timer.id)
        model.removeAll { $0.id == timer.id }
      default:
        let now = Int64.random(in: 0..<500, using: &generator)
        while let action = queue.popDue(at: now) { action() }
        let due = model.filter { $0.deadline <= now }.sorted { $0 < $1 }
        expected += due.map(\.id)
        model.removeAll { $0.deadline <= now }
      }
      #expect(queue.nextDeadline() == model.map(\.deadline).min(), "seed \(seed)")
      #expect(queue.count == model.count, "seed \(seed)")
    }
    #expect(fired.elements == expected, "seed \(seed)")
  }
}
