import CloudKitModel
import Storage
import StoreModel

/// A writer that fills a database with subscriptions of many users. It calls the store directly,
/// with many writes at the same time that share commits.
struct SubscriptionFill {
  let store: SubscriptionService
  let database: DatabaseID
  var users: Int

  /// The number of users whose writes run at the same time.
  private static let writesAtOnce = 512

  static func user(_ number: Int) -> String { "_user" + String(1_000_000 + number) }

  /// Saves subscriptions. Subscription *n* belongs to the user *n* modulo ``users``, so each user
  /// gets about the same number.
  func save(_ count: Int, _ make: @escaping @Sendable (Int) -> Subscription) async throws {
    try await eachUser { user in
      let operations = stride(from: user, to: count, by: users).map {
        SubscriptionOperation.save(make($0))
      }
      let outcomes = try await store.modifySubscriptions(
        operations, of: Self.user(user), in: database, timestamp: .now)
      for case .failed(_, let failure) in outcomes { throw failure }
    }
  }

  /// Calls `body` once for each user, for up to 512 users at the same time.
  func eachUser(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in 0..<users {
        if user >= Self.writesAtOnce { try await group.next() }
        group.addTask { try await body(user) }
      }
      try await group.waitForAll()
    }
  }
}
