import CloudKitModel
import StoreModel

/// The administrators' lists: databases, users, devices, subscriptions and pushes.
struct AdministrationService: AdministrationStore {
  let transactions: Transactions

  func places() async throws -> [ContainerPlace] {
    try await transactions.read { transaction in
      var places: Set<ContainerPlace> = []
      // The query goes from one to the next by the index: there may be a million databases.
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

  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary] {
    try await transactions.read {
      try DatabaseTable(transaction: $0).databases(in: place, after: last, limit: limit)
    }
  }

  func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0).users(beginningWith: prefix, after: last, limit: limit)
    }
  }

  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).devices(of: userRecordName, after: last, limit: limit)
    }
  }

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
