import CloudKitModel
import Synchronization

/// The right of one process to send some deliveries. No other process sends them before the lease
/// ends. If the process writes no outcome by then, other processes can lease the deliveries.
public struct DeliveryLease: Sendable, Hashable {
  /// The number of the process. On a shared store, it is the raw value of the process's
  /// ``ServerID``.
  public var holder: Int64
  /// The end of the lease.
  public var until: Timestamp

  /// Creates a lease of a process, which ends at `until`.
  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Limits for a transaction of the dispatcher: on the deliveries that the transaction writes, and
/// on those that it leases to the calling process at once. Deliveries that are written but not
/// leased wait in the store.
public struct DeliveryCapacity: Sendable {
  /// The lease for the deliveries that the transaction leases to the caller.
  public var lease: DeliveryLease
  /// The number of deliveries to lease for each route on which the process sends already.
  public var capacities: [DeliveryRoute.ID: Int]
  /// The number of deliveries to lease for each other route.
  public var otherCapacity: Int
  /// The number of deliveries that the transaction may write. Beyond it, too many deliveries would
  /// wait on the server.
  public var unwritten: Int
  /// The limit of waiting deliveries for each user, with estimates of the present numbers.
  public var backlogs: UserBacklogs
  /// Returns whether the server has a channel to a device. If false, the transaction writes no
  /// delivery to the device. The function must not block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  /// Returns whether the push service has refused a device for good, so that nothing is sent to it until it
  /// is registered anew. Its deliveries are written, so that each has its reason. The function must not
  /// block.
  public var isRefused: @Sendable (DeviceToken) -> Bool

  /// Creates limits; the defaults permit any number of waiting deliveries and any device.
  public init(
    lease: DeliveryLease, capacities: [DeliveryRoute.ID: Int], otherCapacity: Int,
    unwritten: Int = .max, backlogs: UserBacklogs = UserBacklogs(limit: .max),
    isSetUp: @escaping @Sendable (DeviceToken) -> Bool = { _ in true },
    isRefused: @escaping @Sendable (DeviceToken) -> Bool = { _ in false }
  ) {
    self.lease = lease
    self.capacities = capacities
    self.otherCapacity = otherCapacity
    self.unwritten = unwritten
    self.backlogs = backlogs
    self.isSetUp = isSetUp
    self.isRefused = isRefused
  }
}

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
