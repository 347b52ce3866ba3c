import Synchronization

/// A value that is known only after those who use it were made.
final class Later<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)

  var value: Value? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
