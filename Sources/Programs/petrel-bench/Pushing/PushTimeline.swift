import Foundation
import StoreModel
import Synchronization

/// When what happened on the way of many pushes, in seconds from the first record's saving, and the
/// memory that the process had then.
final class PushTimeline: Sendable {
  struct Mark: Sendable {
    var name: String
    var seconds: Double
    var resident: Int
  }

  private struct State {
    var start = monotonicSeconds()
    var expected = Int.max
    var logged = 0
    var accepted = 0
    /// Answers that were not a success.
    var refused = 0
    var marks: [Mark] = []

    mutating func mark(_ name: String) {
      marks.append(
        Mark(
          name: name, seconds: monotonicSeconds() - start,
          resident: ProcessMemory.resident(of: getpid())))
    }
  }

  private let state = Mutex(State())

  /// Forgets what was, and expects so many log entries and pushes from now on.
  func begin(expecting count: Int) {
    state.withLock { state in
      state = State()
      state.expected = count
    }
  }

  func mark(_ name: String) { state.withLock { $0.mark(name) } }

  func count(_ result: DispatchResult) {
    state.withLock { state in
      guard !result.logged.isEmpty else { return }
      if state.logged == 0 { state.mark("first log entry") }
      state.logged += result.logged.count
      if state.logged == state.expected { state.mark("last log entry") }
    }
  }

  func countAnswer(isAccepted: Bool) {
    state.withLock { state in
      guard isAccepted else {
        state.refused += 1
        return
      }
      state.accepted += 1
      let (tenths, before) = (
        state.accepted * 10 / state.expected, (state.accepted - 1) * 10 / state.expected
      )
      if state.accepted == 1 { state.mark("first push accepted") }
      if state.accepted == state.expected {
        state.mark("last push accepted")
      } else if tenths > before {
        state.mark("\(tenths * 10) % accepted")
      }
    }
  }

  var marks: [Mark] { state.withLock { $0.marks } }
  var logged: Int { state.withLock { $0.logged } }
  var accepted: Int { state.withLock { $0.accepted } }
  var refused: Int { state.withLock { $0.refused } }
}
