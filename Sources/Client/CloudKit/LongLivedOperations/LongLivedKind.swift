/// A class of operations that can be long-lived, with two functions that write and read its inputs.
struct LongLivedKind: Sendable {
  let name: String
  let type: CKDatabaseOperation.Type
  let encode: @Sendable (CKDatabaseOperation, NSCoder) -> Void
  let decode: @Sendable (NSCoder) -> CKDatabaseOperation

  /// Creates the kind of a class.
  private init<Kept: CKDatabaseOperation>(
    _ type: Kept.Type, encode: @escaping @Sendable (Kept, NSCoder) -> Void,
    decode: @escaping @Sendable (NSCoder) -> Kept
  ) {
    name = "\(type)"
    self.type = type
    self.encode = { operation, coder in
      if let operation = operation as? Kept { encode(operation, coder) }
    }
    self.decode = decode
  }

  /// Returns the kind of an operation; `nil` when its class cannot be long-lived.
  ///
  /// A subclass that a program defines has no kind, because its additional state is unknown here.
  static func of(_ operation: CKOperation) -> LongLivedKind? {
    all.first { $0.type == Swift.type(of: operation) }
  }

  static func named(_ name: String) -> LongLivedKind? { all.first { $0.name == name } }

  /// All kinds. Deprecated operations, operations on a container and Petrel's own operations have
  /// none.
  static let all: [LongLivedKind] = [
    LongLivedKind(CKModifyRecordsOperation.self) { operation, coder in
      coder.encodeList(operation.recordsToSave, forKey: "recordsToSave")
      coder.encodeList(
        operation.recordsToSave?.map { $0.ancestor ?? NSNull() }, forKey: "ancestors")
      coder.encodeList(operation.recordIDsToDelete, forKey: "recordIDsToDelete")
      coder.encode(operation.savePolicy.rawValue, forKey: "savePolicy")
      coder.encode(operation.isAtomic, forKey: "isAtomic")
      coder.encode(operation.clientChangeTokenData as NSData?, forKey: "clientChangeTokenData")
    } decode: { coder in
      let operation = CKModifyRecordsOperation()
      operation.recordsToSave = coder.decodeList(
        [CKRecord.self, CKShare.self], forKey: "recordsToSave")
      let ancestors: [NSObject] =
        coder.decodeList([CKRecord.self, NSNull.self], forKey: "ancestors") ?? []
      for (record, ancestor) in zip(operation.recordsToSave ?? [], ancestors) {
        if let ancestor = ancestor as? CKRecord { record.setAncestor(ancestor) }
      }
      operation.recordIDsToDelete = coder.decodeList(
        [CKRecordID.self], forKey: "recordIDsToDelete")
      operation.savePolicy =
        CKModifyRecordsOperation.RecordSavePolicy(number: coder.decodeInteger(forKey: "savePolicy"))
      operation.isAtomic = coder.decodeBool(forKey: "isAtomic")
      operation.clientChangeTokenData =
        coder.decodeOptional(NSData.self, forKey: "clientChangeTokenData").map { $0 as Data }
      return operation
    },
    LongLivedKind(CKFetchRecordsOperation.self) { operation, coder in
      coder.encodeList(operation.recordIDs, forKey: "recordIDs")
      coder.encodeOptional(operation.desiredKeys, forKey: "desiredKeys")
      coder.encode(operation.fetchesCurrentUser, forKey: "fetchesCurrentUser")
    } decode: { coder in
      let operation = CKFetchRecordsOperation()
      operation.recordIDs = coder.decodeList([CKRecordID.self], forKey: "recordIDs")
      operation.desiredKeys = coder.decodeOptionalStrings(forKey: "desiredKeys")
      operation.fetchesCurrentUser = coder.decodeBool(forKey: "fetchesCurrentUser")
      return operation
    },
    LongLivedKind(CKQueryOperation.self) { operation, coder in
      coder.encode(operation.query, forKey: "query")
      coder.encode(operation.cursor, forKey: "cursor")
      coder.encode(operation.zoneID, forKey: "zoneID")
      coder.encode(operation.resultsLimit, forKey: "resultsLimit")
      coder.encodeOptional(operation.desiredKeys, forKey: "desiredKeys")
    } decode: { coder in
      let operation = CKQueryOperation()
      operation.query = coder.decodeOptional(CKQuery.self, forKey: "query")
      operation.cursor = coder.decodeOptional(CKQueryCursor.self, forKey: "cursor")
      operation.zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "zoneID")
      operation.resultsLimit = coder.decodeInteger(forKey: "resultsLimit")
      operation.desiredKeys = coder.decodeOptionalStrings(forKey: "desiredKeys")
      return operation
    },
    LongLivedKind(CKModifyRecordZonesOperation.self) { operation, coder in
      coder.encodeList(operation.recordZonesToSave, forKey: "recordZonesToSave")
      coder.encodeList(operation.recordZoneIDsToDelete, forKey: "recordZoneIDsToDelete")
    } decode: { coder in
      let operation = CKModifyRecordZonesOperation()
      operation.recordZonesToSave = coder.decodeList(
        [CKRecordZone.self], forKey: "recordZonesToSave")
      operation.recordZoneIDsToDelete = coder.decodeList(
        [CKRecordZoneID.self], forKey: "recordZoneIDsToDelete")
      return operation
    },
    LongLivedKind(CKFetchRecordZonesOperation.self) { operation, coder in
      coder.encodeList(operation.recordZoneIDs, forKey: "recordZoneIDs")
      coder.encode(operation.fetchesAll, forKey: "fetchesAll")
    } decode: { coder in
      let operation = CKFetchRecordZonesOperation()
      operation.recordZoneIDs = coder.decodeList([CKRecordZoneID.self], forKey: "recordZoneIDs")
      operation.fetchesAll = coder.decodeBool(forKey: "fetchesAll")
      return operation
    },
    LongLivedKind(CKModifySubscriptionsOperation.self) { operation, coder in
      coder.encodeList(operation.subscriptionsToSave, forKey: "subscriptionsToSave")
      coder.encodeOptional(
        operation.subscriptionIDsToDelete, forKey: "subscriptionIDsToDelete")
    } decode: { coder in
      let operation = CKModifySubscriptionsOperation()
      operation.subscriptionsToSave = coder.decodeList(
        [
          CKQuerySubscription.self, CKRecordZoneSubscription.self, CKDatabaseSubscription.self,
        ], forKey: "subscriptionsToSave")
      operation.subscriptionIDsToDelete = coder.decodeOptionalStrings(
        forKey: "subscriptionIDsToDelete")
      return operation
    },
    LongLivedKind(CKFetchSubscriptionsOperation.self) { operation, coder in
      coder.encodeOptional(operation.subscriptionIDs, forKey: "subscriptionIDs")
      coder.encode(operation.fetchesAll, forKey: "fetchesAll")
    } decode: { coder in
      let operation = CKFetchSubscriptionsOperation()
      operation.subscriptionIDs = coder.decodeOptionalStrings(forKey: "subscriptionIDs")
      operation.fetchesAll = coder.decodeBool(forKey: "fetchesAll")
      return operation
    },
    LongLivedKind(CKFetchDatabaseChangesOperation.self) { operation, coder in
      coder.encode(operation.previousServerChangeToken, forKey: "previousServerChangeToken")
      coder.encode(operation.resultsLimit, forKey: "resultsLimit")
      coder.encode(operation.fetchAllChanges, forKey: "fetchAllChanges")
    } decode: { coder in
      let operation = CKFetchDatabaseChangesOperation()
      operation.previousServerChangeToken = coder.decodeOptional(
        CKServerChangeToken.self, forKey: "previousServerChangeToken")
      operation.resultsLimit = coder.decodeInteger(forKey: "resultsLimit")
      operation.fetchAllChanges = coder.decodeBool(forKey: "fetchAllChanges")
      return operation
    },
    LongLivedKind(CKFetchRecordZoneChangesOperation.self) { operation, coder in
      let configurations = operation.configurationsByRecordZoneID.map { Array($0) }
      coder.encodeList(operation.recordZoneIDs, forKey: "recordZoneIDs")
      coder.encodeList(configurations?.map(\.key), forKey: "configuredZoneIDs")
      coder.encodeList(configurations?.map(\.value), forKey: "configurations")
      coder.encode(operation.fetchAllChanges, forKey: "fetchAllChanges")
    } decode: { coder in
      let operation = CKFetchRecordZoneChangesOperation()
      operation.recordZoneIDs = coder.decodeList([CKRecordZoneID.self], forKey: "recordZoneIDs")
      let zoneIDs: [CKRecordZoneID]? = coder.decodeList(
        [CKRecordZoneID.self], forKey: "configuredZoneIDs")
      let configurations: [CKFetchRecordZoneChangesConfiguration]? = coder.decodeList(
        [CKFetchRecordZoneChangesConfiguration.self], forKey: "configurations")
      if let zoneIDs, let configurations {
        operation.configurationsByRecordZoneID = Dictionary(
          zip(zoneIDs, configurations), uniquingKeysWith: { $1 })
      }
      operation.fetchAllChanges = coder.decodeBool(forKey: "fetchAllChanges")
      return operation
    },
  ]
}

extension NSCoder {
  /// Writes a list. For `nil`, writes nothing, so that `decodeList` returns `nil` again.
  fileprivate func encodeList(_ list: [NSObject]?, forKey key: String) {
    guard let list else { return }
    encode(NSArray(array: list), forKey: key)
  }

  /// Returns a list whose elements are objects of these classes; `nil` when there is no list or it
  /// cannot be decoded.
  fileprivate func decodeList<Element>(_ classes: [AnyClass], forKey key: String) -> [Element]? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: [NSArray.self] + classes, forKey: key) as? [Element]
  }
}
