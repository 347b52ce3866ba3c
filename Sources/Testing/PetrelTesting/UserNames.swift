internal import Synchronization

/// The names that a test gave its users, and the user record names that the server gave them. A
/// lock protects the state.
final class UserNames: Sendable {
  /// The values that the lock protects.
  private struct State {
    /// The users' names by their record names.
    var byRecordName: [String: String] = [:]
    /// The record names by the users' names.
    var recordNames: [String: String] = [:]
  }

  private let state = Mutex(State())

  /// The user's name for a user record name; nil for a user whom the test did not name.
  subscript(recordName: String) -> String? {
    state.withLock { $0.byRecordName[recordName] }
  }

  /// Returns the user record name; nil if the server has not created the user yet.
  func recordName(of user: String) -> String? {
    state.withLock { $0.recordNames[user] }
  }

  /// Adds a user that the server has created.
  func add(_ name: String, recordName: String) {
    state.withLock { state in
      state.byRecordName[recordName] = name
      state.recordNames[name] = recordName
    }
  }
}
