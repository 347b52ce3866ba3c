import CloudKitModel

extension SubscriptionNotification {
  /// The fields of the changed record that the subscription's desired keys name. Each field is
  /// there once, in the order of the keys.
  ///
  /// Only notifications of query subscriptions have such fields. If the record was deleted, the
  /// subscription must also have asked for the last values.
  var desiredValues: [RecordFields<RecordValue>.Element] {
    guard case .query = subscription.kind, let record = change.record,
      let keys = subscription.notificationInfo?.desiredKeys
    else { return [] }
    switch change.event {
    case .recordCreated, .recordUpdated: break
    case .recordDeleted: if !carriesLastValues { return [] }
    case .zoneCreated, .zoneDeleted: return []
    }
    var seen: Set<String> = []
    return keys.compactMap { key in
      guard seen.insert(key).inserted, let value = record.fields[key] else { return nil }
      return (key, value)
    }
  }

  /// The values of the desired keys in an entry of the notification log: all except assets and
  /// lists of assets. To get an asset, a client fetches the record.
  public var loggedValues: RecordFields<RecordValue> {
    RecordFields(desiredValues.lazy.filter { $0.value.type.element != .asset })
  }
}
