/// A value that several threads may use. An `NSLock` protects the value: each access holds the
/// lock.
///
/// The class is `@unchecked Sendable` because only ``withLock(_:)`` reads or writes `value`.
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  /// Runs `body` while the lock is held, and returns or throws what `body` returns or throws.
  ///
  /// The lock is not recursive: a `body` that calls `withLock` on the same object waits for ever.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
