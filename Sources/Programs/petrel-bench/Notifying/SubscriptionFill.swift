import CloudKitModel
import StoreModel

/// Fills a database with subscriptions of many users, past HTTP and with many writes in each commit.
struct SubscriptionFill {
  let store: any SubscriptionStore
  let database: DatabaseID
  var users: Int

  /// Writes that wait for the store at the same time.
  private static let writesAtOnce = 512

  static func user(_ number: Int) -> String { "_user" + String(1_000_000 + number) }

  /// Saves so many subscriptions, each user's in turn.
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

  /// Does something for each user, for some hundred at the same time.
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
