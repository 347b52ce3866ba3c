import CloudKitModel
import StoreModel

/// A writer that fills a database with subscriptions of many users. It calls the store directly, so
/// that many writes share a commit.
struct SubscriptionFill {
  /// The store to write to.
  let store: any SubscriptionStore
  let database: DatabaseID
  /// The number of users.
  var users: Int

  /// Writes that wait for the store at the same time.
  private static let writesAtOnce = 512

  /// Returns the record name of a user.
  static func user(_ number: Int) -> String { "_user" + String(1_000_000 + number) }

  /// Saves so many subscriptions. Each user gets the same number, up to one.
  ///
  /// - Parameters:
  ///   - count: The number of subscriptions.
  ///   - make: Returns the subscription with a number.
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
