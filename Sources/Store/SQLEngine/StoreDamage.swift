import StoreModel
import Synchronization

/// The record of the damage found in a store, until the process ends. The cause may have damaged
/// other pages too, and further writes would increase the damage.
///
/// All connections to a file share one record. They call ``check()`` before each transaction and
/// each commit, so no transaction begins or commits on a damaged store. A lock protects the values.
/// Handlers are called on the thread that finds the damage, outside of the lock.
package final class StoreDamage: Sendable {
  /// The values that the lock protects.
  private struct State {
    var reason: String?
    var handler: (@Sendable (String) -> Void)?
    var unsyncedReason: String?
    var unsyncedHandler: (@Sendable (String) -> Void)?
  }

  private let state = Mutex(State())

  /// Creates a record without damage.
  package init() {}

  /// The first damage found; nil if there is none.
  package var reason: String? { state.withLock(\.reason) }

  /// Records damage, and calls the handler of the first damage. Later damage is ignored.
  package func note(_ reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      return state.handler
    }
    handler?(reason)
  }

  /// Records a failed sync of the file, unless damage is recorded already. The store must not be
  /// read until the next start has copied its log into the file again.
  package func note(unsynced reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      state.unsyncedReason = reason
      return state.unsyncedHandler
    }
    handler?(reason)
  }

  /// Sets the handler of a failed sync, and calls it at once if a sync has failed already. The
  /// handler gets the reason.
  package func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.unsyncedHandler = handler
      return state.unsyncedReason
    }
    if let reason { handler?(reason) }
  }

  /// Sets the handler of the first damage, and calls it at once if there is damage already. The
  /// handler gets the reason. A failed sync has a handler of its own.
  package func setHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.handler = handler
      return state.unsyncedReason == nil ? state.reason : nil
    }
    if let reason { handler?(reason) }
  }

  /// Throws if the store must not be used any more.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the store is damaged, ``StoreError/Code/diskFailed``
  ///   if it must be reopened after a failed sync.
  package func check() throws {
    let (reason, isUnsynced) = state.withLock { ($0.reason, $0.unsyncedReason != nil) }
    guard let reason else { return }
    throw StoreError(isUnsynced ? .diskFailed : .corrupt, reason)
  }
}
