import Foundation
import StoreModel
import Synchronization

/// The important events while many pushes are sent. Each event has its time and the resident memory
/// of this process.
///
/// Any thread may call the methods; a lock protects the events.
final class PushTimeline: Sendable {
  /// An event.
  struct Mark: Sendable {
    var name: String
    var seconds: Double
    var resident: Int
  }

  /// The counts and events, protected by the lock.
  private struct State {
    var start = monotonicSeconds()
    var expected = Int.max
    var logged = 0
    var accepted = 0
    /// The number of answers other than a success.
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

  /// Removes all events and counts, and sets the present time as the beginning. From now on,
  /// `count` log entries and `count` pushes are expected.
  func begin(expecting count: Int) {
    state.withLock { state in
      state = State()
      state.expected = count
    }
  }

  func mark(_ name: String) { state.withLock { $0.mark(name) } }

  /// Counts the log entries of a transaction of the dispatcher. The first and the last expected log
  /// entry are events.
  func count(_ result: DispatchResult) {
    state.withLock { state in
      guard !result.logged.isEmpty else { return }
      if state.logged == 0 { state.mark("first log entry") }
      state.logged += result.logged.count
      if state.logged == state.expected { state.mark("last log entry") }
    }
  }

  /// Counts the answer to a push. The first and the last accepted push are events. So is each push
  /// that completes a tenth of the expected number.
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
  /// The number of pushes with an answer other than a success.
  var refused: Int { state.withLock { $0.refused } }
}
