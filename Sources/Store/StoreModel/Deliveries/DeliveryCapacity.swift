import CloudKitModel
import Synchronization

/// The right of one process to send some deliveries. If the process writes no outcome before the
/// lease ends, other processes can lease the deliveries.
public struct DeliveryLease: Sendable, Hashable {
  /// The number of the process: on a shared store, the raw value of its ``ServerID``.
  public var holder: Int64
  /// The end of the lease.
  public var until: Timestamp

  /// Creates a lease.
  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Limits on the deliveries that a transaction of the dispatcher writes, and on those that it
/// leases to the calling process at once. The others wait in the store.
public struct DeliveryCapacity: Sendable {
  /// The lease of the deliveries that the caller gets.
  public var lease: DeliveryLease
  /// The deliveries to lease for each route on which the process sends already.
  public var capacities: [DeliveryRoute.ID: Int]
  /// The deliveries to lease for each other route.
  public var otherCapacity: Int
  /// The deliveries that the transaction may write. Beyond it, too many would wait on the server.
  public var unwritten: Int
  /// The limit of each user's waiting deliveries.
  public var backlogs: UserBacklogs
  /// Whether the server has a channel to a device. If not, no delivery to the device is written.
  /// Must not block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  /// Whether the push service has refused a device for good, until it is registered anew. Its
  /// deliveries are written, so that each has its reason. Must not block.
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

/// A user and a database: the limit of waiting deliveries applies to each such pair.
package struct UserOfDatabase: Hashable {
  package var userRecordName: String
  package var database: DatabaseID

  package init(userRecordName: String, database: DatabaseID) {
    self.userRecordName = userRecordName
    self.database = database
  }
}

/// Estimates of each user's *backlog*: the deliveries that wait for the user in a database. Most
/// users are far from the limit, and for them the store runs no statement that counts.
///
/// There are 65,536 counters, selected by the hash of a user and a database, so several users may
/// share one. A counter rises with each written delivery. An exact count of one user's deliveries
/// replaces it.
///
/// A counter is mostly at least the backlog of each of its users. It is too low if other servers
/// wrote deliveries, or if the count of one user replaced it. The backlog may then exceed the
/// limit.
///
/// A lock protects the counters, so any thread may call the methods.
public final class UserBacklogs: Sendable {
  /// A power of two, so that a mask selects a counter.
  private static let size = 1 << 16

  /// The most deliveries of one database that may wait for one user; `Int.max` for no limit.
  public let limit: Int
  private let counters: Mutex<[Int]>

  /// Creates counters that have reached the limit, so that the store counts each user's deliveries
  /// before ``begin(owed:)``.
  public init(limit: Int) {
    self.limit = limit
    counters = Mutex(Array(repeating: limit, count: limit == .max ? 0 : Self.size))
  }

  /// Lowers each counter to at most `owed`, the store's deliveries without a final outcome.
  public func begin(owed: Int) {
    counters.withLock { counters in
      for place in counters.indices { counters[place] = min(counters[place], owed) }
    }
  }

  /// The deliveries that may be written for a user, by the estimate; `Int.max` without a limit. A
  /// caller that needs more must count the user's deliveries in the store.
  package func left(for user: UserOfDatabase) -> Int {
    withCounter(of: user) { max(0, limit - $0) } ?? .max
  }

  package func add(_ count: Int, for user: UserOfDatabase) {
    withCounter(of: user) { $0 += count }
  }

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
