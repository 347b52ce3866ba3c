import Synchronization

/// A value that a reload of the configuration replaces. Requests under way keep the former one.
package final class Reloadable<Value: Sendable>: Sendable {
  private let current: Mutex<Value>

  package init(_ value: Value) { current = Mutex(value) }

  package var value: Value { current.withLock { $0 } }

  package func replace(by value: Value) { current.withLock { $0 = value } }
}
