internal import Synchronization

/// The names of the users in the test, and the user record names that the server assigned to them.
/// A lock protects the state.
final class UserNames: Sendable {
  /// The values that the lock protects.
  private struct State {
    var byRecordName: [String: String] = [:]
    var recordNames: [String: String] = [:]
  }

  private let state = Mutex(State())

  subscript(recordName: String) -> String? {
    state.withLock { $0.byRecordName[recordName] }
  }

  func recordName(of user: String) -> String? {
    state.withLock { $0.recordNames[user] }
  }

  func add(_ name: String, recordName: String) {
    state.withLock { state in
      state.byRecordName[recordName] = name
      state.recordNames[name] = recordName
    }
  }
}
