import Foundation
import StoreModel
import Synchronization

/// The events on the way of many pushes, each with its time and the resident memory of the process.
///
/// Any thread may call it; a lock protects the events.
final class PushTimeline: Sendable {
  /// An event.
  struct Mark: Sendable {
    /// The text for people.
    var name: String
    /// Seconds from the beginning.
    var seconds: Double
    /// Resident bytes of the process.
    var resident: Int
  }

  /// The counts and events, protected by the lock.
  private struct State {
    var start = monotonicSeconds()
    /// The log entries and the pushes that are expected.
    var expected = Int.max
    var logged = 0
    var accepted = 0
    /// Answers other than success.
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

  /// Resets the timeline. The time starts now, and `count` log entries and pushes are expected.
  func begin(expecting count: Int) {
    state.withLock { state in
      state = State()
      state.expected = count
    }
  }

  /// Adds an event.
  func mark(_ name: String) { state.withLock { $0.mark(name) } }

  /// Counts the log entries of a dispatcher's transaction; the first and the last one are events.
  func count(_ result: DispatchResult) {
    state.withLock { state in
      guard !result.logged.isEmpty else { return }
      if state.logged == 0 { state.mark("first log entry") }
      state.logged += result.logged.count
      if state.logged == state.expected { state.mark("last log entry") }
    }
  }

  /// Counts the answer to a push. The first accepted one, each tenth and the last one are events.
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

  /// The events in order.
  var marks: [Mark] { state.withLock { $0.marks } }
  /// The counted log entries.
  var logged: Int { state.withLock { $0.logged } }
  /// The accepted pushes.
  var accepted: Int { state.withLock { $0.accepted } }
  /// The pushes with an answer other than success.
  var refused: Int { state.withLock { $0.refused } }
}
