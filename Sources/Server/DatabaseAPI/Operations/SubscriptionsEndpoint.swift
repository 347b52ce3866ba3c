import CloudKitModel
import Foundation
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoint of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`. A
/// caller sees only the caller's own subscriptions.
///
/// A saved subscription is active when its answer is sent: every later change can fire the
/// subscription.
struct SubscriptionsEndpoint: Sendable {
  let store: SubscriptionService
  let databases: DatabaseDirectory

  var operations: [Operation] {
    [
      Operation(
        "subscriptions/list", of: .anyDatabase, for: .accounts, .reads, list,
        .init("Subscriptions", "The caller's subscriptions", answer: "All of them.")),
      Operation(
        "subscriptions/lookup", of: .anyDatabase, for: .accounts, .reads, lookup,
        .init(
          "Subscriptions", "Subscriptions by their IDs",
          answer: "One item for each ID, in order.")),
      Operation(
        "subscriptions/modify", of: .anyDatabase, for: .accounts, .changes, modify,
        .init(
          "Subscriptions", "Save and delete subscriptions",
          answer: "One item for each operation, in order. Each succeeds or fails by itself.")),
    ]
  }

  /// Answers `subscriptions/list`: all subscriptions of the caller in the database.
  private func list(_ context: RequestContext) async throws -> SubscriptionsResponse {
    let user = try context.user()
    let contents = try await databases.contents(for: context)
    let subscriptions = try await contents.subscriptions.subscriptions(
      of: user, in: contents.database)
    return SubscriptionsResponse(
      subscriptions: subscriptions.map { .success(.subscription($0)) })
  }

  /// Answers `subscriptions/lookup`: one item for each ID, in the order of the request. An unknown
  /// ID gets `NOT_FOUND`.
  private func lookup(
    _ request: LookupSubscriptionsRequest, _ context: RequestContext
  ) async throws -> SubscriptionsResponse {
    let user = try context.user()
    let contents = try await databases.contents(for: context)
    let existing = Dictionary(
      try await contents.subscriptions.subscriptions(of: user, in: contents.database)
        .map { ($0.subscriptionID, $0) },
      uniquingKeysWith: { first, _ in first })
    let items = request.subscriptionIDs.map {
      subscriptionID -> Result<SubscriptionsResponse.Item, FailedItem> in
      if let subscription = existing[subscriptionID] {
        return .success(.subscription(subscription))
      }
      return .failure(
        FailedItem(
          .subscription(subscriptionID: subscriptionID),
          ServiceError(.notFound, "subscription '\(subscriptionID)' does not exist")))
    }
    return SubscriptionsResponse(subscriptions: context.reported(items))
  }

  /// Answers `subscriptions/modify`: one item for each operation, in the order of the request.
  ///
  /// The operations are independent: one that fails does not affect the others. If a subscription
  /// replaces one of another type, the server's log gets a warning.
  private func modify(
    _ request: ModifySubscriptionsRequest, _ context: RequestContext
  ) async throws -> SubscriptionsResponse {
    let user = try context.user()
    let address = try context.address()
    let operations = request.operations.map { Self.validated($0, of: user, in: address) }
    let database = try await databases.database(for: context)
    let outcomes = try await store.modifySubscriptions(
      // An operation that failed already has its error as its answer.
      operations.compactMap { try? $0.get() }, of: user, in: database,
      refusesEqualContent: context.refusesEqualSubscriptions, timestamp: context.now)
    var remaining = outcomes[...]
    let items = operations.map { operation in
      operation.flatMap { _ -> Result<SubscriptionsResponse.Item, FailedItem> in
        switch remaining.popFirst() {
        case .saved(let subscription, let replaced):
          .success(.subscription(subscription, replaced: replaced))
        case .deleted(let subscriptionID): .success(.deleted(subscriptionID: subscriptionID))
        case .failed(let subscriptionID, let failure):
          .failure(
            FailedItem(.subscription(subscriptionID: subscriptionID), ServiceError(failure)))
        case nil:
          .failure(
            FailedItem(
              .unknown,
              ServiceError(.internalError, "the store returned no result for this operation")))
        }
      }
    }
    context.reportReplacements(
      items.compactMap { item in
        guard case .success(.subscription(let subscription, let replaced?)) = item else {
          return nil
        }
        return ReplacedSubscription(by: subscription, replaced)
      })
    return SubscriptionsResponse(subscriptions: context.reported(items))
  }

  /// Checks the subscription of a save against the rules for this database. Deletions need no check.
  private static func validated(
    _ operation: Result<SubscriptionOperation, FailedItem>, of user: String,
    in address: DatabaseAddress
  ) -> Result<SubscriptionOperation, FailedItem> {
    operation.flatMap { operation in
      guard case .save(let subscription) = operation else { return .success(operation) }
      do throws(ModelError) {
        try subscription.validate(of: user, in: address)
        return .success(operation)
      } catch {
        return .failure(
          FailedItem(
            .subscription(subscriptionID: subscription.subscriptionID), ServiceError(error)))
      }
    }
  }
}
