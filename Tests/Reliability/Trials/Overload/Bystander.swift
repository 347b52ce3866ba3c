import Foundation
import HistoryChecking
import Synchronization

/// A user who only looks at a record, twenty times a second, while others make trouble.
final class Bystander: @unchecked Sendable {
  private struct State {
    var waits: [Double] = []
    var refused = 0
    var isOver = false
  }

  private let device: CloudDevice
  private let key: RecordKey
  private let state = Mutex(State())
  private let group = DispatchGroup()

  init(_ device: CloudDevice, looksAt key: RecordKey) {
    self.device = device
    self.key = key
    group.enter()
    Thread.detachNewThread { [self] in
      while !state.withLock({ $0.isOver }) {
        let began = TrialClock.now
        let isSeen = !self.device.fetch([self.key]).isEmpty
        let seconds = TrialClock.seconds(since: began)
        self.device.history = History()
        state.withLock { state in
          if isSeen { state.waits.append(seconds) } else { state.refused += 1 }
        }
        TrialClock.pause(seconds: 0.05)
      }
      group.leave()
    }
  }

  /// Returns the waits since the last call.
  func take() -> (waits: [Double], refused: Int) {
    state.withLock { state in
      defer {
        state.waits = []
        state.refused = 0
      }
      return (state.waits, state.refused)
    }
  }

  func end() {
    state.withLock { $0.isOver = true }
    group.wait()
  }
}
