import StoreModel
import Synchronization

/// The record of the damage found in a store, until the process ends. The cause may have damaged
/// other pages too, and further writes would increase the damage.
///
/// All connections to a file share one record. They call ``check()`` before each transaction and
/// each commit, so no transaction begins or commits on a damaged store. A lock protects the values.
/// Handlers are called on the thread that finds the damage, outside of the lock.
package final class StoreDamage: Sendable {
  /// Guarded by the lock.
  private struct State {
    var reason: String?
    var handler: (@Sendable (String) -> Void)?
    var unsyncedReason: String?
    var unsyncedHandler: (@Sendable (String) -> Void)?
  }

  private let state = Mutex(State())

  package init() {}

  package var reason: String? { state.withLock(\.reason) }

  /// Calls the handler of the first damage. Later damage is ignored.
  package func note(_ reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      return state.handler
    }
    handler?(reason)
  }

  /// The store must not be read until the next start has copied its log into the file again.
  package func note(unsynced reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      state.unsyncedReason = reason
      return state.unsyncedHandler
    }
    handler?(reason)
  }

  /// The handler gets the reason, at once if a sync has failed already.
  package func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.unsyncedHandler = handler
      return state.unsyncedReason
    }
    if let reason { handler?(reason) }
  }

  /// The handler gets the reason of the first damage, at once if there is damage already.
  package func setHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.handler = handler
      return state.unsyncedReason == nil ? state.reason : nil
    }
    if let reason { handler?(reason) }
  }

  /// - Throws: ``StoreError/Code/corrupt`` if the store is damaged, ``StoreError/Code/diskFailed``
  ///   if it must be reopened after a failed sync.
  package func check() throws {
    let (reason, isUnsynced) = state.withLock { ($0.reason, $0.unsyncedReason != nil) }
    guard let reason else { return }
    throw StoreError(isUnsynced ? .diskFailed : .corrupt, reason)
  }
}
