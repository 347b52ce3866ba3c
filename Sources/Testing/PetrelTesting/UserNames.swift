internal import Synchronization

/// The names of the users in the test, and the user record names that the server assigned to them.
/// A lock protects the state.
final class UserNames: Sendable {
  /// The values that the lock protects.
  private struct State {
    /// The users' names by their record names.
    var byRecordName: [String: String] = [:]
    /// The record names by the users' names.
    var recordNames: [String: String] = [:]
  }

  private let state = Mutex(State())

  /// The name in the test of the user with this record name; nil for a user whom the test did not
  /// name.
  subscript(recordName: String) -> String? {
    state.withLock { $0.byRecordName[recordName] }
  }

  /// Returns the user record name of a user; nil if the server has not created the user yet.
  func recordName(of user: String) -> String? {
    state.withLock { $0.recordNames[user] }
  }

  /// Adds the names of a user that the server has created.
  func add(_ name: String, recordName: String) {
    state.withLock { state in
      state.byRecordName[recordName] = name
      state.recordNames[name] = recordName
    }
  }
}
