import Synchronization

/// A user and a database whose changes fire notifications for the user. The limit of waiting
/// deliveries applies to each such pair.
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

/// Estimates of the deliveries that wait for each user in each database. The backlog of a user is
/// the number of these deliveries. Most users are far from the limit. For them the estimate is
/// enough, and the store runs no statement that counts.
///
/// There are 65,536 counters. The hash of a user and a database selects a counter, so several users
/// may share one. A counter rises with each written delivery. If the store counts the deliveries of
/// one user, that number replaces the counter.
///
/// A counter is mostly at least as high as the backlog of each of its users. It can be too low in
/// two cases, and the backlog may then exceed the limit. First, other servers write deliveries that
/// this process does not count. Second, the exact number of one user replaces the counter of other
/// users.
///
/// A lock protects the counters, so any thread may call the methods.
public final class UserBacklogs: Sendable {
  /// The number of counters: a power of two, so that a mask selects one.
  private static let size = 1 << 16

  /// The most deliveries of one database that may wait for one user; `Int.max` for no limit.
  public let limit: Int
  /// The counters; empty if there is no limit.
  private let counters: Mutex<[Int]>

  /// Creates counters that have all reached the limit. Before ``begin(owed:)``, the store therefore
  /// counts the deliveries of each user.
  public init(limit: Int) {
    self.limit = limit
    counters = Mutex(Array(repeating: limit, count: limit == .max ? 0 : Self.size))
  }

  /// Lowers each counter that is above `owed` to `owed`.
  ///
  /// - Parameter owed: the number of deliveries in the store without a final outcome, for all
  ///   users.
  public func begin(owed: Int) {
    counters.withLock { counters in
      for place in counters.indices { counters[place] = min(counters[place], owed) }
    }
  }

  /// Returns the number of deliveries that may be written for a user, by the estimate; `Int.max`
  /// without a limit. If the caller needs more, it must count the user's deliveries in the store.
  package func left(for user: UserOfDatabase) -> Int {
    withCounter(of: user) { max(0, limit - $0) } ?? .max
  }

  /// Raises a user's counter by a number of written deliveries.
  package func add(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 += count }
  }

  /// Replaces a user's counter with an exact count.
  package func set(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 = count }
  }

  /// Calls `body` with a user's counter under the lock, and returns the result; nil if there is no
  /// limit.
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
