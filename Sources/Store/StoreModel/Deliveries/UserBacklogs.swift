import Synchronization

/// A user and a database that has notifications for the user: the pair to which the limit of
/// waiting deliveries applies.
package struct UserOfDatabase: Hashable {
  /// The user who gets the notifications.
  package var userRecordName: String
  /// The database whose changes fire them.
  package var database: DatabaseID

  /// Names a user in a database.
  package init(userRecordName: String, database: DatabaseID) {
    self.userRecordName = userRecordName
    self.database = database
  }
}

/// An upper estimate of the deliveries that wait for each user in each database. Most users are far
/// from the limit, and for them the estimate saves the statement that counts.
///
/// Users share counters by their hashes. A counter rises with each written delivery, and an exact
/// count for one of its users replaces it. So a counter is mostly at least the backlog of any of
/// its users. Two things can exceed the limit: the deliveries that other servers write before they
/// count, and a counter that another user's count has replaced. One user in 65,536 shares a counter
/// with a given user.
///
/// A lock protects the counters, so any thread may call the methods.
public final class UserBacklogs: Sendable {
  /// The number of counters: a power of two, so that a mask selects one.
  private static let size = 1 << 16

  /// The most deliveries of one database that may wait for one user; `Int.max` for no limit.
  public let limit: Int
  /// Empty if there is no limit.
  private let counters: Mutex<[Int]>

  /// Before ``begin(owed:)``, the limit counts as reached, so that each user is counted once.
  public init(limit: Int) {
    self.limit = limit
    counters = Mutex(Array(repeating: limit, count: limit == .max ? 0 : Self.size))
  }

  /// Lowers all counters to `owed`, the number of deliveries in the store without an outcome.
  public func begin(owed: Int) {
    counters.withLock { counters in
      for place in counters.indices { counters[place] = min(counters[place], owed) }
    }
  }

  /// Returns the number of deliveries that may be written for a user before the caller must count
  /// them in the store; `Int.max` without a limit.
  package func left(for user: UserOfDatabase) -> Int {
    withCounter(of: user) { max(0, limit - $0) } ?? .max
  }

  /// Adds written deliveries to a user's counter.
  package func add(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 += count }
  }

  /// Replaces a user's counter with an exact count.
  package func set(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 = count }
  }

  @discardableResult
  private func withCounter<Value: Sendable>(
    of user: UserOfDatabase, _ body: (inout Int) -> Value
  ) -> Value? {
    guard limit < .max else { return nil }
    // Each process seeds its hashes, so a user cannot choose with whom to share a counter.
    let place = user.hashValue & (Self.size - 1)
    return counters.withLock { body(&$0[place]) }
  }
}
