import CloudKitModel
import Matching
import StoreModel

/// The subscriptions of a database that match a change.
public struct FittingSubscriptions: Sendable, Hashable {
  /// The names of some of the subscriptions, in the order of subscribers and IDs.
  public var names: [SubscriptionName]
  /// The number of all matching subscriptions.
  public var count: Int
}

extension Dispatcher {
  /// Returns the subscriptions that would fire on a change made now.
  ///
  /// The method uses the dispatcher's matching index. It does not check which users may read the
  /// record.
  ///
  /// - Parameters:
  ///   - database: The database of the change.
  ///   - limit: The greatest number of names to return.
  /// - Returns: `nil` if the index is not available within about a tenth of a second. Possible
  ///   reasons: the index is being read from the store, a change with very many firings is being
  ///   dispatched, or the dispatch of the database is divided into parts.
  /// - Throws: `StoreError` if the store fails.
  public func subscriptions(
    fitting change: Change, in database: DatabaseID, atMost limit: Int
  ) async throws -> FittingSubscriptions? {
    if let membership, try await membership.store.partition(of: database).parts > 1 {
      return nil
    }
    return try await fittingSubscriptions(of: change, in: database, atMost: limit)
  }

  /// Returns the matching subscriptions. Waits at most 50 ms for an index in use, and then reads a
  /// missing index for about 50 ms. `nil` if the index is not complete by then.
  private func fittingSubscriptions(
    of change: Change, in database: DatabaseID, atMost limit: Int
  ) async throws -> FittingSubscriptions? {
    try await indexes.look(
      into: .whole(database), within: .milliseconds(50), readingFor: .milliseconds(50)
    ) { current in
      var slots: [Int32] = []
      var count = 0
      var scratch = MatchScratch()
      current.index.forEachMatch(of: change, savedBy: .max, using: &scratch) { slot in
        if slots.count < limit { slots.append(slot) }
        count += 1
      }
      let names = current.index.matches(inSlots: slots).map { match in
        SubscriptionName(
          subscriber: match.key.subscriber, subscriptionID: match.key.subscriptionID)
      }
      return FittingSubscriptions(
        names: names.sorted {
          ($0.subscriber, $0.subscriptionID) < ($1.subscriber, $1.subscriptionID)
        }, count: count)
    }
  }
}
