import CloudKitModel
import StoreModel

/// The lists for administrators: databases, users, devices, subscriptions and pushes.
///
/// The methods only read. Most lists are divided into pages, in the order of a key. To get the next
/// page, the caller passes the last key of the page before. So each page has the same cost,
/// whatever its position in the list.
struct AdministrationService: AdministrationStore {
  let transactions: Transactions

  /// Returns the pairs of container and environment that have databases or record types, in the
  /// order of their names.
  ///
  /// - Complexity: O(*p* log *n*) for *p* pairs, and *n* databases and record types.
  func places() async throws -> [ContainerPlace] {
    try await transactions.read { transaction in
      var places: Set<ContainerPlace> = []
      // Each statement uses the index to find the next pair. Reading all rows would be slow,
      // because there may be a million databases.
      for next in [
        DatabaseTable(transaction: transaction).place,
        RecordTypeTable(transaction: transaction).place,
      ] {
        var last: ContainerPlace?
        while let place = try next(last) {
          places.insert(place)
          last = place
        }
      }
      return places.sorted {
        ($0.container, $0.environment.rawValue) < ($1.container, $1.environment.rawValue)
      }
    }
  }

  /// Returns a page of the databases in a container's environment; see
  /// ``DatabaseTable/databases(in:after:limit:)``.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary] {
    try await transactions.read {
      try DatabaseTable(transaction: $0).databases(in: place, after: last, limit: limit)
    }
  }

  /// Returns a page of the users whose names begin with `prefix`; see
  /// ``UserTable/users(beginningWith:after:limit:)``.
  func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0).users(beginningWith: prefix, after: last, limit: limit)
    }
  }

  /// Returns a page of one user's devices, or of all devices if `userRecordName` is nil.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).devices(of: userRecordName, after: last, limit: limit)
    }
  }

  /// Searches the subscriptions of a database in the order of subscribers and IDs, and returns the
  /// subscriptions that `isWanted` selects.
  ///
  /// One call examines at most ``SubscriptionSearch/budget`` subscriptions, 500 at a time.
  ///
  /// - Parameters:
  ///   - subscriber: the user whose subscriptions are examined; nil for all users.
  ///   - last: the subscription after which the search begins; nil for the first page.
  ///   - limit: the most subscriptions returned.
  ///   - isWanted: returns whether the result has a subscription. The function runs once for each
  ///     examined subscription, on a thread that reads the store, and must not block.
  func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch {
    try await transactions.read { transaction in
      let search = PiecewiseSearch(
        budget: SubscriptionSearch.budget, pieceSize: 500, limit: limit)
      let (found, next) = try search.walk(from: last) { place, count in
        try SubscriptionTable(transaction: transaction)
          .states(withID: nil, of: subscriber, in: database, after: place, limit: count)
          .states.map(\.stored)
      } place: {
        $0.name
      } wanted: {
        isWanted($0) ? $0 : nil
      }
      return SubscriptionSearch(found: found, next: next ?? nil)
    }
  }
}
