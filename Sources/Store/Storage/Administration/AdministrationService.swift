import CloudKitModel
import StoreModel

/// The lists of a store's contents for administrators. No method changes the store.
///
/// A method with a `limit` returns one page of a list: at most `limit` elements. The store reads a
/// page by an index, so a page late in the list costs as much as the first. To get the next page,
/// pass the last element's name as `last`; nil returns the first page. The two searches return the
/// argument for the next page (``SubscriptionSearch/next``, ``PushSearch/next``).
public struct AdministrationService: Sendable {
  let transactions: Transactions

  /// Returns the environments of containers that have a database or a record type, in order.
  ///
  /// - Complexity: O(*p* log *n*) for *p* pairs, and *n* databases and record types.
  public func places() async throws -> [ContainerPlace] {
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

  /// Returns the databases of a container's environment in the order of scopes and owners.
  public func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary] {
    try await transactions.read {
      try DatabaseTable(transaction: $0).databases(in: place, after: last, limit: limit)
    }
  }

  /// Returns users whose names begin with `prefix`, in the order of their names.
  public func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0).users(beginningWith: prefix, after: last, limit: limit)
    }
  }

  /// Returns devices in the order of kinds and tokens. Without a user, it returns those of all
  /// users.
  public func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken] {
    try await transactions.read {
      try DeviceTable(transaction: $0).devices(of: userRecordName, after: last, limit: limit)
    }
  }

  /// Searches a database's subscriptions in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriber: nil searches the subscriptions of all users.
  ///   - isWanted: returns whether the result has a subscription. One call examines at most
  ///     ``SubscriptionSearch/budget`` subscriptions. The function must not block.
  public func subscriptions(
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

/// A database in a list for administrators.
public struct DatabaseSummary: Sendable, Hashable {
  /// The name of a database within its container's environment.
  public struct Name: Sendable, Hashable {
    /// The scope: public, private or shared.
    public var scope: DatabaseScope
    /// The owner's user record name; empty for the public database.
    public var owner: String

    /// Names a database of a container's environment.
    public init(scope: DatabaseScope, owner: String) {
      self.scope = scope
      self.owner = owner
    }
  }

  /// The number under which the store keeps the database.
  public var id: DatabaseID
  /// The database's scope and owner.
  public var name: Name
  /// The name of the owner's account; nil for the public database and for an owner without an
  /// account, such as a server-to-server key.
  public var userName: String?
}

/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// The most subscriptions that one call examines.
  public static let budget = 5_000

  /// The subscriptions that the caller selected, in the order of subscribers and IDs.
  public var found: [StoredSubscription]
  /// The `last` of the next call; nil at the end. It can be set although ``found`` has fewer
  /// elements than the limit (``budget``).
  public var next: SubscriptionName?
}
