import CloudKitModel
import StoreModel

/// The saves and deletions of one user's subscriptions, in the writer's transaction.
///
/// All changes of a request get one version: the database's next subscription version. A refused
/// operation writes nothing.
struct SubscriptionModifier {
  let subscriber: String
  let database: DatabaseID
  let refusesEqualContent: Bool
  let timestamp: Timestamp
  let transaction: StoreTransaction
  let address: DatabaseAddress
  private var raisedVersion: Int64?
  private var isEntered = false
  /// The number that the request may still save before it counts again.
  private var remaining: Int?

  private var table: SubscriptionTable { SubscriptionTable(transaction: transaction) }

  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  init(
    subscriber: String, database: DatabaseID, refusesEqualContent: Bool, timestamp: Timestamp,
    transaction: StoreTransaction
  ) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(subscriber)
    self.subscriber = subscriber
    self.database = database
    self.refusesEqualContent = refusesEqualContent
    self.timestamp = timestamp
    self.transaction = transaction
    address = try DatabaseTable(transaction: transaction).address(of: database)
  }

  /// - Throws: errors of the store, and ``LocksNeeded``. A failed check is an outcome.
  mutating func save(_ subscription: Subscription) throws -> SubscriptionOutcome {
    let subscription = canonical(subscription)
    do {
      do {
        try subscription.validate(in: address.scope)
      } catch {
        throw ItemFailure(error)
      }
      try check(subscription)
      if refusesEqualContent { try checkIsDifferent(subscription) }
      try checkLimit(for: subscription)
      try settleType(of: subscription)
    } catch let failure as ItemFailure {
      return .failed(subscriptionID: subscription.subscriptionID, failure)
    }
    try enterSubscriber()
    let version = try version()
    let former = try table.save(
      subscription, of: subscriber, in: database, version: version)
    return .saved(subscription, replaced: former == subscription.kind.name ? nil : former)
  }

  /// A subscription that replaces one with its ID is accepted at the limit.
  ///
  /// - Throws: ``ItemFailure/Code/quotaExceeded`` with the limit.
  /// - Complexity: O(*n*) for each count of the user's *n* subscriptions in the database. A request
  ///   counts once; at the limit it counts for each save.
  private mutating func checkLimit(for subscription: Subscription) throws {
    let limit = transaction.context.quotas[.subscriptionsPerUser]
    guard limit < .max else { return }
    if let remaining, remaining > 0 {
      self.remaining = remaining - 1
      return
    }
    let count = try table.count(of: subscriber, in: database)
    guard count >= limit else {
      remaining = limit - count - 1
      return
    }
    guard try !table.contains(name(of: subscription.subscriptionID), in: database) else { return }
    throw transaction.context.quotas.refusal(
      of: .subscriptionsPerUser, field: "subscriptionID",
      "subscription '\(subscription.subscriptionID)' cannot be saved: the user has \(count) "
        + "subscriptions in the \(address.scope) database, and the limit is \(limit). Delete one first"
    )
  }

  /// A reader of the user's notifications reads only the subscriber's databases.
  private mutating func enterSubscriber() throws {
    guard !isEntered else { return }
    try SubscriberDatabaseTable(transaction: transaction).enter(database, of: subscriber)
    isEntered = true
  }

  mutating func delete(_ subscriptionID: String) throws -> SubscriptionOutcome {
    guard try table.contains(name(of: subscriptionID), in: database) else {
      let reason = "there is no subscription '\(subscriptionID)'"
      return .failed(subscriptionID: subscriptionID, ItemFailure(.notFound, reason))
    }
    let version = try version()
    _ = try table.delete(
      name(of: subscriptionID), in: database, version: version, timestamp: timestamp)
    return .deleted(subscriptionID: subscriptionID)
  }

  private mutating func version() throws -> Int64 {
    if let raisedVersion { return raisedVersion }
    let version = try DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
    raisedVersion = version
    return version
  }

  private func name(of subscriptionID: String) -> SubscriptionName {
    SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
  }

  /// The owner of a private database is named ``ZoneID/currentOwnerName``.
  private func canonical(_ subscription: Subscription) -> Subscription {
    var subscription = subscription
    switch subscription.kind {
    case .query(let query, let zoneID?, let options):
      subscription.kind = .query(
        query, zoneID: address.canonical(zoneID), options: options)
    case .recordZone(let zoneID, let recordType):
      subscription.kind = .recordZone(
        address.canonical(zoneID), recordType: recordType)
    case .query, .database:
      break
    }
    return subscription
  }

  /// The database must have the zone, and the schema must permit the fields of the filters and of
  /// `desiredKeys`. The types of fields that the schema does not have yet are not checked.
  ///
  /// - Throws: ``ItemFailure``.
  private func check(_ subscription: Subscription) throws {
    switch subscription.kind {
    case .database:
      break
    case .recordZone(let zoneID, _):
      try requireZone(zoneID, of: subscription)
    case .query(let query, let zoneID, _):
      if let zoneID { try requireZone(zoneID, of: subscription) }
      try checkSchema(of: query, in: subscription)
      guard
        let type = try RecordTypeTable(transaction: transaction).type(
          named: query.recordType, at: address)
      else { return }
      for filter in query.filters {
        guard case .field(let name) = filter.key,
          let field = try RecordTypeTable(transaction: transaction).field(name, of: type)
        else { continue }
        try checkIsPlain(field, name, in: "a filter", of: subscription)
        do {
          try filter.validate(against: field.type)
        } catch {
          throw ItemFailure(error)
        }
      }
      let info = subscription.notificationInfo
      for (place, names) in [
        ("alertLocalizationArgs", info?.alertLocalizationArgs),
        ("titleLocalizationArgs", info?.titleLocalizationArgs),
        ("subtitleLocalizationArgs", info?.subtitleLocalizationArgs),
      ] {
        for name in names ?? [] {
          guard let field = try RecordTypeTable(transaction: transaction).field(name, of: type)
          else { continue }
          try checkIsPlain(field, name, in: place, of: subscription)
        }
      }
      for key in info?.desiredKeys ?? [] {
        guard let field = try RecordTypeTable(transaction: transaction).field(key, of: type) else {
          continue
        }
        try checkIsPlain(field, key, in: "desiredKeys", of: subscription)
        try checkDesiredKey(key, of: field.type, in: subscription)
      }
    }
  }

  /// Ignores `notificationInfo`.
  ///
  /// - Throws: ``ItemFailure/Code/exists``, with the ID of the other subscription.
  private func checkIsDifferent(_ subscription: Subscription) throws {
    let others = try table.subscriptions(
      of: subscriber, but: subscription.subscriptionID, in: database)
    guard let equal = others.first(where: { $0.kind.watchesForSame(as: subscription.kind) }) else {
      return
    }
    throw ItemFailure(
      .exists,
      "subscription '\(subscription.subscriptionID)' is equal to subscription "
        + "'\(equal.subscriptionID)'; delete that one first, or save this one under its ID")
  }

  /// - Throws: ``ItemFailure/Code/zoneNotFound``; ``ItemFailure/Code/badDatabase`` for a zone of
  ///   another user.
  private func requireZone(_ zoneID: ZoneID, of subscription: Subscription) throws {
    guard try ZoneTable(transaction: transaction).number(of: zoneID, in: database) == nil else {
      return
    }
    let failure = address.missing(zoneID)
    guard failure.code == .zoneNotFound else { throw failure }
    throw ItemFailure(
      .zoneNotFound, field: "zoneID",
      "subscription '\(subscription.subscriptionID)' names zone '\(zoneID)', which does not exist; "
        + "create it first")
  }

  /// The server can neither search nor send the values of an encrypted field.
  private func checkIsPlain(
    _ field: RecordTypeEntry.Field, _ name: String, in place: String,
    of subscription: Subscription
  ) throws {
    guard field.isEncrypted else { return }
    throw ItemFailure(
      .invalid, field: name,
      "subscription '\(subscription.subscriptionID)' names the encrypted field '\(name)' in "
        + "\(place); encrypted fields can be neither searched nor sent in notifications")
  }

  /// A push can carry strings, numbers, dates, locations and references
  /// (`CKSubscription.NotificationInfo.desiredKeys`).
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for a list, bytes or an asset.
  private func checkDesiredKey(
    _ key: String, of type: FieldType, in subscription: Subscription
  ) throws {
    guard type.isList || type.element == .bytes || type.element == .asset else { return }
    throw ItemFailure(
      .invalid, field: "desiredKeys",
      "subscription '\(subscription.subscriptionID)' has the desired key '\(key)' of type \(type); "
        + "a notification carries strings, numbers, timestamps, locations and references")
  }
}

extension Subscription.Kind {
  /// Equally often, too (`firesOnce`). The order of the filters does not matter.
  fileprivate func watchesForSame(as other: Subscription.Kind) -> Bool {
    guard case .query(let query, let zoneID, let options) = self,
      case .query(let otherQuery, let otherZoneID, let otherOptions) = other
    else { return self == other }
    return query.recordType == otherQuery.recordType && zoneID == otherZoneID
      && options == otherOptions && Set(query.filters) == Set(otherQuery.filters)
  }
}

extension SubscriptionModifier {
  /// The filters' fields must have the indexes that the filters need. In a fixed environment
  /// (``StoreContext/fixedEnvironments``), the record type and the fields must exist.
  ///
  /// - Throws: ``ItemFailure/Code/invalid``, or ``ItemFailure/Code/notReady`` while an index is
  ///   being built.
  func checkSchema(of query: Query, in subscription: Subscription) throws {
    guard
      let type = try RecordTypeTable(transaction: transaction).type(
        named: query.recordType, at: address)
    else {
      try SchemaRequirements(transaction: transaction).requireType(
        named: query.recordType, at: address,
        "subscription '\(subscription.subscriptionID)' cannot be saved")
      return
    }
    try SchemaRequirements(transaction: transaction).requireIndexes(
      for: query, in: type, at: address)
  }

  /// Adds a missing type to the schema. A fixed environment (``StoreContext/fixedEnvironments``)
  /// must have it already.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the type was not deployed to a fixed environment;
  ///   ``LocksNeeded`` if the type is new and the transaction of a shared store does not have the
  ///   reference lock.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    let types = SubscriptionTypeTable(transaction: transaction)
    let place = ContainerPlace(container: address.container, environment: address.environment)
    guard SchemaRequirements(transaction: transaction).isFixed(address) else {
      if transaction.connection.isShared {
        // The lookup comes before the lock, since the type is almost always there.
        if try types.contains(type, at: place) { return }
        try transaction.require(.reference)
      }
      try types.insert(type, at: place)
      return
    }
    if try types.contains(type, at: place) { return }
    throw SchemaRequirements(transaction: transaction).missing(
      "the subscription type '\(type)'", at: address, field: "subscriptionType",
      "subscription '\(subscription.subscriptionID)' cannot be saved")
  }
}
