package import CloudKitModel

extension CKSubscription {
  package static func subscription(_ model: Subscription) -> CKSubscription {
    let subscription: CKSubscription
    switch model.kind {
    case .query(let query, let zoneID, let options):
      subscription = CKQuerySubscription(
        query, zoneID: zoneID, options: options, subscriptionID: model.subscriptionID)
    case .recordZone(let zoneID, let recordType):
      subscription = CKRecordZoneSubscription(
        zoneID: CKRecordZone.ID(zoneID), recordType: recordType,
        subscriptionID: model.subscriptionID)
    case .database(let recordType):
      subscription = CKDatabaseSubscription(
        recordType: recordType, subscriptionID: model.subscriptionID)
    }
    subscription.notificationInfo = model.notificationInfo.map { CKNotificationInfo($0) }
    return subscription
  }

  /// Converts the subscription to the form that a request contains.
  ///
  /// The method does not check whether the database allows the subscription;
  /// `Subscription.validate(in:)` does.
  ///
  /// - Throws: `invalidArguments` for a predicate, a name or a class that CloudKit does not
  ///   support. `limitExceeded` if the predicate has too many conditions or values.
  package func model() throws(CKError) -> Subscription {
    Subscription(
      subscriptionID: subscriptionID, kind: try kind(),
      notificationInfo: notificationInfo?.model)
  }

  private func kind() throws(CKError) -> Subscription.Kind {
    switch successor ?? self {
    case let query as CKQuerySubscription:
      return .query(
        try query.query(), zoneID: query.zoneID?.model,
        options: Subscription.Options(rawValue: query.querySubscriptionOptions.rawValue))
    case let zone as CKRecordZoneSubscription:
      return .recordZone(zone.zoneID.model, recordType: zone.recordType)
    case let database as CKDatabaseSubscription:
      return .database(recordType: database.recordType)
    default:
      throw CKError(
        .invalidArguments, "a subscription of the class \(type(of: self)) is not supported")
    }
  }
}

extension CKQuerySubscription {
  /// Throws `invalidArguments` for a predicate that queries do not support, and for a predicate
  /// with `now()`; `limitExceeded` if the predicate has too many conditions or values.
  fileprivate func query() throws(CKError) -> Query {
    let query = Query(recordType: recordType ?? "", filters: try predicate.filters(now: nil))
    do {
      try query.validate()
    } catch {
      throw CKError(error)
    }
    return query
  }
}
