import Foundation
import PropertyTesting
import Testing

@testable import HTTPService

struct StreamStateTests {
  @Test("a reader that finds nothing sleeps until the next chunk")
  func readerWaits() {
    var state = StreamState(capacity: 4)
    #expect(state.read(upTo: 10) == .suspend)
    #expect(state.write(Data([1, 2])) == .accepted(resume: true))
    #expect(state.write(Data([3])) == .accepted(resume: false))
    #expect(state.read(upTo: 2) == .bytes([1, 2]))
    #expect(state.read(upTo: 2) == .bytes([3]))
  }

  @Test("a writer waits while the buffer is full")
  func writerWaits() {
    var state = StreamState(capacity: 4)
    #expect(state.write(Data(count: 6)) == .accepted(resume: false))
    #expect(state.write(Data(count: 1)) == .wait)
    _ = state.read(upTo: 3)
    #expect(state.write(Data(count: 1)) == .accepted(resume: false))
  }

  @Test("what was written before the end is still read, what comes after it is not taken")
  func finish() {
    var state = StreamState(capacity: 4)
    _ = state.write(Data([1]))
    #expect(state.finish() == false)
    #expect(state.write(Data([2])) == .closed)
    #expect(state.read(upTo: 9) == .bytes([1]))
    #expect(state.read(upTo: 9) == .end)
  }

  @Test("a cut stream ends at once and wakes its reader")
  func cut() {
    var state = StreamState(capacity: 4)
    #expect(state.read(upTo: 9) == .suspend)
    #expect(state.fail() == true)
    #expect(state.fail() == false)
    #expect(state.read(upTo: 9) == .fail)
  }

  @Test(
    "random writes and reads carry every byte in order within the bound", arguments: Seeds.some(50))
  func random(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 1...32, using: &generator)
    var state = StreamState(capacity: capacity)
    var pending: [UInt8] = []
    var isSuspended = false
    for step in 0..<2_000 {
      let place: Comment = "seed \(seed), step \(step)"
      if Bool.random(using: &generator) {
        let chunk = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
          UInt8.random(in: .min ... .max, using: &generator)
        }
        switch state.write(Data(chunk)) {
        case .accepted(let resume):
          #expect(pending.count < capacity, place)
          #expect(resume == (isSuspended && !chunk.isEmpty), place)
          if resume { isSuspended = false }
          pending += chunk
        case .wait: #expect(pending.count >= capacity, place)
        case .closed: Issue.record(place)
        }
      } else if !isSuspended {
        let limit = Int.random(in: 1...16, using: &generator)
        switch state.read(upTo: limit) {
        case .bytes(let bytes):
          #expect(bytes == Array(pending.prefix(limit)), place)
          pending.removeFirst(bytes.count)
        case .suspend:
          #expect(pending.isEmpty, place)
          isSuspended = true
        case .end, .fail: Issue.record(place)
        }
      }
      #expect(state.count == pending.count, place)
    }
  }
}
