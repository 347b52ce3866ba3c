import CloudKit

extension CKRecord {
  /// A record with fields.
  convenience init(
    _ type: String, _ name: String, _ fields: [String: any CKRecordValueProtocol] = [:],
    zone: CKRecordZone.ID = .default
  ) {
    self.init(recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: zone))
    for (field, value) in fields { self[field] = value }
  }
}

extension CKDatabase {
  /// Saves a record with fields.
  @discardableResult
  func add(
    _ type: String, _ name: String, _ fields: [String: any CKRecordValueProtocol] = [:],
    zone: CKRecordZone.ID = .default
  ) async throws -> CKRecord {
    try await save(CKRecord(type, name, fields, zone: zone))
  }

  /// Makes a zone.
  func addZone(_ name: String) async throws -> CKRecordZone.ID {
    try await save(CKRecordZone(zoneName: name)).zoneID
  }

  /// Subscribes to records that match a format. Of silent pushes a slow machine would make one.
  @discardableResult
  func subscribe(
    _ id: String = "subscription", to type: String = "Item", where predicate: NSPredicate,
    options: CKQuerySubscription.Options = .firesOnRecordCreation,
    zone: CKRecordZone.ID? = nil, info: CKSubscription.NotificationInfo? = .init(alertBody: "New")
  ) async throws -> CKSubscription {
    let subscription = CKQuerySubscription(
      recordType: type, predicate: predicate, subscriptionID: id, options: options)
    subscription.zoneID = zone
    subscription.notificationInfo = info
    return try await save(subscription)
  }
}

extension NSPredicate {
  /// Holds for every record.
  static var all: NSPredicate { NSPredicate(value: true) }
}
