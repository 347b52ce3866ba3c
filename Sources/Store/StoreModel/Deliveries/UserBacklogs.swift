import Synchronization

/// A user for whom a database has notifications.
package struct UserOfDatabase: Hashable {
  package var userRecordName: String
  package var database: DatabaseID

  package init(userRecordName: String, database: DatabaseID) {
    self.userRecordName = userRecordName
    self.database = database
  }
}

/// How many deliveries of each database may wait for each user at most, as far as that can be said
/// without asking the store: so those who are far from the limit, nearly all, cost no statement.
///
/// Users share counters by their hashes. A counter rises with each delivery that is written, and an exact
/// count of one of its users replaces it. So it is mostly at least what waits for any of its users. A limit
/// may be passed by as much as other servers write before they count, and by a user whose counter was
/// replaced by the count of another: one of 65,536 shares it.
public final class UserBacklogs: Sendable {
  private static let size = 1 << 16

  /// Deliveries of one database that may wait for one user; `Int.max` for any number.
  public let limit: Int
  /// Empty without a limit.
  private let counters: Mutex<[Int]>

  /// Until ``begin(owed:)`` nothing is known, and every user is counted once.
  public init(limit: Int) {
    self.limit = limit
    counters = Mutex(Array(repeating: limit, count: limit == .max ? 0 : Self.size))
  }

  /// The store has so many deliveries without an outcome: no user has more.
  public func begin(owed: Int) {
    counters.withLock { counters in
      for place in counters.indices { counters[place] = min(counters[place], owed) }
    }
  }

  /// How many deliveries may be written for a user before the store has to be asked.
  package func left(for user: UserOfDatabase) -> Int {
    withCounter(of: user) { max(0, limit - $0) } ?? .max
  }

  package func add(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 += count }
  }

  /// So many wait for a user.
  package func set(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 = count }
  }

  @discardableResult
  private func withCounter<Value: Sendable>(
    of user: UserOfDatabase, _ body: (inout Int) -> Value
  ) -> Value? {
    guard limit < .max else { return nil }
    // The hash has a seed of its own in each process: nobody chooses whom to share a counter with.
    let place = user.hashValue & (Self.size - 1)
    return counters.withLock { body(&$0[place]) }
  }
}
