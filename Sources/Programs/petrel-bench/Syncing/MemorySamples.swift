import Foundation
import Synchronization

/// The memory of this process while changes pass. Any thread may call the methods; a lock protects
/// the state.
final class MemorySamples: Sendable {
  /// The memory at one time.
  struct Sample: Sendable {
    var changes: Int
    var resident: Int
    var allocated: Int

    init(at changes: Int) {
      self.changes = changes
      resident = ProcessMemory.resident(of: getpid())
      allocated = ProcessMemory.allocated
    }

    /// Takes the greater value of each kind of memory.
    fileprivate mutating func raise(to other: Sample) {
      resident = max(resident, other.resident)
      allocated = max(allocated, other.allocated)
    }
  }

  /// The samples so far.
  private struct State: Sendable {
    var kept: [Sample]
    var peak: Sample
  }

  private let step: Int
  private let state: Mutex<State>

  /// Takes the first sample.
  ///
  /// - Parameter step: The number of changes from one kept sample to the next, at least 1.
  init(every step: Int) {
    self.step = step
    let first = Sample(at: 0)
    state = Mutex(State(kept: [first], peak: first))
  }

  func note(_ changes: Int) {
    state.withLock { state in
      let sample = Sample(at: state.peak.changes + changes)
      state.peak.changes = sample.changes
      state.peak.raise(to: sample)
      if let last = state.kept.last, sample.changes / step > last.changes / step {
        state.kept.append(sample)
      }
    }
  }

  /// The kept samples: the first one, and one after each step.
  var kept: [Sample] { state.withLock { $0.kept } }

  /// The greatest values of all samples, with the number of changes that have passed in all.
  var peak: Sample { state.withLock { $0.peak } }

  static func text(_ bytes: Int) -> String { String(format: "%6.1f MB", Double(bytes) / 1_048_576) }
}
