import StoreModel
import Synchronization

/// Whether a store was found to be damaged. It stays so until the process ends: what damaged one page
/// may have damaged others, and what is written on top of it makes it worse.
package final class StoreDamage: Sendable {
  private struct State {
    var reason: String?
    var handler: (@Sendable (String) -> Void)?
    var unsyncedReason: String?
    var unsyncedHandler: (@Sendable (String) -> Void)?
  }

  private let state = Mutex(State())

  package init() {}

  /// What was found first; nil while all is well.
  package var reason: String? { state.withLock(\.reason) }

  /// Takes down what was found, and tells it if it is the first.
  package func note(_ reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      return state.handler
    }
    handler?(reason)
  }

  /// Takes down that the file was not synced, and that nothing may be read from it until it was written
  /// anew.
  package func note(unsynced reason: String) {
    let handler = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      state.unsyncedReason = reason
      return state.unsyncedHandler
    }
    handler?(reason)
  }

  /// Has it told that the file was not synced; at once where it was not.
  package func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.unsyncedHandler = handler
      return state.unsyncedReason
    }
    if let reason { handler?(reason) }
  }

  /// Has the first damage told; at once where there is some.
  package func setHandler(_ handler: (@Sendable (String) -> Void)?) {
    let reason = state.withLock { state in
      state.handler = handler
      return state.unsyncedReason == nil ? state.reason : nil
    }
    if let reason { handler?(reason) }
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the store is damaged, ``StoreError/Code/diskFailed`` when
  ///   it has to be opened anew.
  package func check() throws {
    let (reason, isUnsynced) = state.withLock { ($0.reason, $0.unsyncedReason != nil) }
    guard let reason else { return }
    throw StoreError(isUnsynced ? .diskFailed : .corrupt, reason)
  }
}
