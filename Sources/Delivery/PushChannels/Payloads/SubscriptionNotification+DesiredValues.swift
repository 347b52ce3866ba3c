import CloudKitModel

extension SubscriptionNotification {
  /// The record's values of the subscription's desired keys, each key once, in the order of the
  /// subscription.
  ///
  /// Query notifications of a creation or an update have them. Those of a deletion have them if the
  /// subscription asked for the last values.
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

  /// The desired values in an entry of the notification log: all except assets. To get an asset, a
  /// client fetches the record.
  public var loggedValues: RecordFields<RecordValue> {
    RecordFields(desiredValues.lazy.filter { $0.value.type.element != .asset })
  }
}
