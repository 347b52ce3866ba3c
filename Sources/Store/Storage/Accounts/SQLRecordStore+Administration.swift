import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func places() async throws -> [ContainerPlace] {
    try await read { transaction in
      var places: Set<ContainerPlace> = []
      for table in ["databases", "record_types"] {
        var last: ContainerPlace?
        // From one to the next by the index: there may be a million databases.
        while let place = try transaction.place(after: last, in: table) {
          places.insert(place)
          last = place
        }
      }
      return places.sorted {
        ($0.container, $0.environment.rawValue) < ($1.container, $1.environment.rawValue)
      }
    }
  }

  public func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary] {
    try await read {
      try $0.connection.rows(
        """
        SELECT number, scope, owner, users.name FROM database_addresses
        LEFT JOIN users ON users.user_record_name = database_addresses.owner
        WHERE container = $1 AND environment = $2 AND (scope, owner) > ($3, $4)
        ORDER BY scope, owner LIMIT $5
        """,
        [
          .text(place.container), .text(place.environment.rawValue),
          .integer(Int64(last?.scope.rawValue ?? 0)), .text(last?.owner ?? ""),
          .integer(Int64(limit)),
        ]
      ) { row in
        guard let scope = DatabaseScope(rawValue: Int(row.integer(1))) else {
          throw StoreError(.corrupt, "database \(row.integer(0)) has an unknown scope")
        }
        return DatabaseSummary(
          id: DatabaseID(rawValue: row.integer(0)),
          name: DatabaseSummary.Name(scope: scope, owner: row.text(2)),
          userName: row.optionalText(3))
      }
    }
  }

  public func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    try await read { try DatabaseTable(transaction: $0).database(at: address) }
  }

  public func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User] {
    try await read {
      try UserTable(transaction: $0).users(beginningWith: prefix, after: last, limit: limit)
    }
  }

  public func userNames(of userRecordNames: Set<String>) async throws -> [String: String] {
    try await read { transaction in
      let users = UserTable(transaction: transaction)
      var names: [String: String] = [:]
      for userRecordName in userRecordNames {
        names[userRecordName] = try users.name(of: userRecordName)
      }
      return names
    }
  }

  public func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken] {
    try await read {
      try DeviceTable(transaction: $0).devices(of: userRecordName, after: last, limit: limit)
    }
  }

  public func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch {
    try await read { transaction in
      let search = PiecewiseSearch(
        budget: SubscriptionSearch.budget, pieceSize: 500, limit: limit)
      let (found, next) = try search.walk(from: last) { place, count in
        try transaction.subscriptions(in: database, of: subscriber, after: place, limit: count)
      } place: {
        $0.name
      } wanted: {
        isWanted($0) ? $0 : nil
      }
      return SubscriptionSearch(found: found, next: next ?? nil)
    }
  }
}

extension StoreTransaction {
  fileprivate func place(
    after last: ContainerPlace?, in table: String
  ) throws -> ContainerPlace? {
    // First the container's other environments: with both columns in one range SQLite would walk
    // through all rows of the container.
    for range in ["container = $1 AND environment > $2", "container > $1 AND $2 = $2"] {
      let found = try connection.first(
        "SELECT container, environment FROM \(table) WHERE \(range) "
          + "ORDER BY container, environment LIMIT 1",
        [.text(last?.container ?? ""), .text(last?.environment.rawValue ?? "")]
      ) { ContainerPlace(container: $0.text(0), environment: try $0.environment(1)) }
      if let found { return found }
    }
    return nil
  }

  fileprivate func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int
  ) throws -> [StoredSubscription] {
    // With one subscriber only the ID is a range: SQLite would walk the whole index otherwise.
    let range =
      subscriber == nil
      ? "(subscriber, subscription_id) > ($2, $3)" : "subscriber = $2 AND subscription_id > $3"
    let lastID = subscriber == nil || last?.subscriber == subscriber ? last?.subscriptionID : nil
    return try connection.rows(
      """
      SELECT subscriber, content, first_version FROM subscriptions
      WHERE database_id = $1 AND \(range) ORDER BY subscriber, subscription_id LIMIT $4
      """,
      [
        .integer(database.rawValue), .text(subscriber ?? last?.subscriber ?? ""),
        .text(lastID ?? ""), .integer(Int64(limit)),
      ]
    ) {
      StoredSubscription(
        subscriber: $0.text(0), subscription: try Subscription(row: $0.bytes(1)),
        version: $0.integer(2))
    }
  }
}
