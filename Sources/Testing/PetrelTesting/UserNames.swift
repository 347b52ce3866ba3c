internal import Synchronization

/// The names that a test gave its users, and the names of their records, which the server made.
final class UserNames: Sendable {
  private struct State {
    var byRecordName: [String: String] = [:]
    var recordNames: [String: String] = [:]
  }

  private let state = Mutex(State())

  /// A user's name by that of the user's record.
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
