import CloudKit
import Foundation
import Testing

struct OperationTests {
  @Test("The operations on records")
  func recordOperations() {
    let record = CKRecord(recordType: "Note")
    let modify = CKModifyRecordsOperation(
      recordsToSave: [record], recordIDsToDelete: [CKRecord.ID(recordName: "old")])
    #expect(modify.recordsToSave?.first === record && modify.recordIDsToDelete?.count == 1)
    #expect(modify.savePolicy == .ifServerRecordUnchanged && modify.isAtomic)
    #expect(modify.clientChangeTokenData == nil)
    modify.savePolicy = .changedKeys
    modify.isAtomic = false
    modify.clientChangeTokenData = Data([1])
    modify.perRecordProgressBlock = { record, progress in _ = (record.recordID, progress) }
    modify.perRecordSaveBlock = { id, result in _ = (id, try? result.get()) }
    modify.perRecordDeleteBlock = { id, result in _ = (id, try? result.get()) }
    modify.modifyRecordsResultBlock = { result in
      switch result {
      case .success: break
      case .failure(let error): _ = error.localizedDescription
      }
    }
    #expect(modify.perRecordProgressBlock != nil && modify.perRecordSaveBlock != nil)
    #expect(modify.perRecordDeleteBlock != nil && modify.modifyRecordsResultBlock != nil)
    #expect(modify.clientChangeTokenData == Data([1]) && modify.savePolicy.rawValue == 1)
    #expect(CKModifyRecordsOperation.RecordSavePolicy(rawValue: 2) == .allKeys)
    #expect(CKModifyRecordsOperation().recordsToSave == nil)
    #expect(CKModifyRecordsOperation(recordIDsToDelete: []).recordsToSave == nil)

    let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
    fetch.desiredKeys = ["title"]
    fetch.perRecordProgressBlock = { _, _ in }
    fetch.perRecordResultBlock = { _, _ in }
    fetch.fetchRecordsResultBlock = { _ in }
    #expect(fetch.recordIDs == [record.recordID] && fetch.desiredKeys == ["title"])
    #expect(fetch.perRecordProgressBlock != nil && fetch.perRecordResultBlock != nil)
    #expect(fetch.fetchRecordsResultBlock != nil && CKFetchRecordsOperation().recordIDs == nil)
    let user: CKFetchRecordsOperation = .fetchCurrentUserRecordOperation()
    #expect(user.recordIDs == nil)
  }

  @Test("The operations on zones")
  func zoneOperations() {
    let zone = CKRecordZone(zoneName: "Work")
    let modify = CKModifyRecordZonesOperation(
      recordZonesToSave: [zone], recordZoneIDsToDelete: nil)
    modify.recordZoneIDsToDelete = [zone.zoneID]
    modify.perRecordZoneSaveBlock = { _, _ in }
    modify.perRecordZoneDeleteBlock = { _, _ in }
    modify.modifyRecordZonesResultBlock = { _ in }
    #expect(modify.recordZonesToSave?.count == 1 && modify.recordZoneIDsToDelete == [zone.zoneID])
    #expect(modify.perRecordZoneSaveBlock != nil && modify.perRecordZoneDeleteBlock != nil)
    #expect(modify.modifyRecordZonesResultBlock != nil)
    #expect(CKModifyRecordZonesOperation().recordZonesToSave == nil)

    let fetch = CKFetchRecordZonesOperation(recordZoneIDs: [zone.zoneID])
    fetch.perRecordZoneResultBlock = { _, _ in }
    fetch.fetchRecordZonesResultBlock = { _ in }
    #expect(fetch.recordZoneIDs == [zone.zoneID] && fetch.perRecordZoneResultBlock != nil)
    #expect(fetch.fetchRecordZonesResultBlock != nil)
    #expect(CKFetchRecordZonesOperation.fetchAllRecordZonesOperation().recordZoneIDs == nil)
    #expect(CKFetchRecordZonesOperation().recordZoneIDs == nil)
  }

  @Test("The operations on subscriptions")
  func subscriptionOperations() {
    let subscription = CKDatabaseSubscription(subscriptionID: "s")
    let modify = CKModifySubscriptionsOperation(
      subscriptionsToSave: [subscription], subscriptionIDsToDelete: ["old"])
    modify.perSubscriptionSaveBlock = { _, _ in }
    modify.perSubscriptionDeleteBlock = { _, _ in }
    modify.modifySubscriptionsResultBlock = { _ in }
    #expect(modify.subscriptionsToSave?.count == 1 && modify.subscriptionIDsToDelete == ["old"])
    #expect(modify.perSubscriptionSaveBlock != nil && modify.perSubscriptionDeleteBlock != nil)
    #expect(modify.modifySubscriptionsResultBlock != nil)
    #expect(CKModifySubscriptionsOperation().subscriptionsToSave == nil)

    let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["s"])
    fetch.perSubscriptionResultBlock = { _, _ in }
    fetch.fetchSubscriptionsResultBlock = { _ in }
    #expect(fetch.subscriptionIDs == ["s"] && fetch.perSubscriptionResultBlock != nil)
    #expect(fetch.fetchSubscriptionsResultBlock != nil)
    #expect(CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation().subscriptionIDs == nil)
    #expect(CKFetchSubscriptionsOperation().subscriptionIDs == nil)
  }

  @Test("The operations on changes")
  func changeOperations() throws {
    let database = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
    #expect(database.previousServerChangeToken == nil && database.fetchAllChanges)
    #expect(database.resultsLimit == 0 && CKFetchDatabaseChangesOperation().fetchAllChanges)
    database.resultsLimit = 3
    database.fetchAllChanges = false
    database.recordZoneWithIDChangedBlock = { _ in }
    database.recordZoneWithIDWasDeletedBlock = { _ in }
    database.recordZoneWithIDWasPurgedBlock = { _ in }
    database.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { _ in }
    database.changeTokenUpdatedBlock = { token in
      let token: CKServerChangeToken = token
      _ = token.copy()
    }
    database.fetchDatabaseChangesResultBlock = { result in
      if case .success(let (serverChangeToken, moreComing)) = result {
        _ = (serverChangeToken, moreComing)
      }
    }
    #expect(database.recordZoneWithIDChangedBlock != nil && !database.fetchAllChanges)
    #expect(database.fetchDatabaseChangesResultBlock != nil && database.resultsLimit == 3)

    let zoneID = CKRecordZone.ID(zoneName: "Work")
    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
      previousServerChangeToken: nil, resultsLimit: 5, desiredKeys: ["title"])
    #expect(configuration.resultsLimit == 5 && configuration.desiredKeys == ["title"])
    #expect(CKFetchRecordZoneChangesOperation.ZoneConfiguration().resultsLimit == 0)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: configuration, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, from: data)
    #expect(back?.desiredKeys == ["title"] && back?.previousServerChangeToken == nil)
    let copy = configuration.copy() as? CKFetchRecordZoneChangesOperation.ZoneConfiguration
    #expect(copy?.resultsLimit == 5)

    let changes = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
    #expect(changes.recordZoneIDs == [zoneID] && changes.fetchAllChanges)
    #expect(changes.configurationsByRecordZoneID?[zoneID]?.resultsLimit == 5)
    changes.fetchAllChanges = true
    changes.recordWasChangedBlock = { id, result in _ = (id, try? result.get()) }
    changes.recordWithIDWasDeletedBlock = { id, type in _ = (id.recordName, type) }
    changes.recordZoneChangeTokensUpdatedBlock = { zoneID, token, data in
      _ = (zoneID, token, data)
    }
    changes.recordZoneFetchResultBlock = { zoneID, result in
      if case .success(let (serverChangeToken, clientChangeTokenData, moreComing)) = result {
        _ = (zoneID, serverChangeToken, clientChangeTokenData, moreComing)
      }
    }
    changes.fetchRecordZoneChangesResultBlock = { _ in }
    #expect(changes.recordWasChangedBlock != nil && changes.recordWithIDWasDeletedBlock != nil)
    #expect(changes.recordZoneChangeTokensUpdatedBlock != nil)
    #expect(changes.recordZoneFetchResultBlock != nil)
    #expect(changes.fetchRecordZoneChangesResultBlock != nil)
    #expect(CKFetchRecordZoneChangesOperation().recordZoneIDs == nil)
    let plain = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
    #expect(plain.recordZoneIDs == [zoneID] && plain.configurationsByRecordZoneID == nil)
  }

  @Test("Operations, their configuration and their group have Apple's defaults")
  func configuration() throws {
    let operation: CKDatabaseOperation = CKFetchRecordsOperation()
    let id: CKOperation.ID = operation.operationID
    #expect(!id.isEmpty && id != CKFetchRecordsOperation().operationID)
    #expect(operation.database == nil && operation.group == nil)
    #expect(operation.longLivedOperationWasPersistedBlock == nil)
    let configuration: CKOperation.Configuration = operation.configuration
    #expect(configuration.container == nil && configuration.qualityOfService == .default)
    #expect(configuration.allowsCellularAccess && !configuration.isLongLived)
    #expect(configuration.timeoutIntervalForRequest == 60)
    #expect(configuration.timeoutIntervalForResource == 7 * 24 * 60 * 60)

    let own = CKOperation.Configuration()
    own.container = CKContainer(identifier: "iCloud.com.example.app")
    own.qualityOfService = .userInitiated
    own.allowsCellularAccess = false
    own.isLongLived = true
    own.timeoutIntervalForRequest = 5
    #expect(own.timeoutIntervalForResource == -1)
    own.timeoutIntervalForResource = 10
    operation.configuration = own
    own.timeoutIntervalForRequest = 6
    #expect(operation.configuration.timeoutIntervalForRequest == 5)
    #expect((own.copy() as? CKOperation.Configuration)?.timeoutIntervalForRequest == 6)
    operation.configuration = nil
    #expect(operation.configuration.timeoutIntervalForRequest == 60)
    operation.qualityOfService = .utility
    operation.longLivedOperationWasPersistedBlock = {}
    operation.database = own.container?.publicCloudDatabase
    #expect(operation.database?.databaseScope == .public)

    let group = CKOperationGroup()
    #expect(!group.operationGroupID.isEmpty && group.name == nil && group.quantity == 0)
    #expect(group.expectedSendSize == .unknown && group.expectedReceiveSize == .unknown)
    group.defaultConfiguration = own
    group.name = "sync"
    group.quantity = 4
    group.expectedSendSize = .kilobytes
    group.expectedReceiveSize = .hundredsOfGigabytes
    operation.group = group
    #expect(operation.group?.defaultConfiguration.isLongLived == true)
    let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data)
    #expect(back?.name == "sync" && back?.expectedReceiveSize == .hundredsOfGigabytes)
    let sizes: [CKOperationGroup.TransferSize] = [
      .unknown, .kilobytes, .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes,
      .tensOfGigabytes, .hundredsOfGigabytes,
    ]
    #expect(sizes.map(\.rawValue) == Array(0...7))
  }

  @available(*, deprecated)
  @Test("The operation's own forms of its configuration")
  func passThroughs() {
    let operation = CKFetchRecordsOperation()
    operation.container = CKContainer(identifier: "iCloud.com.example.app")
    operation.allowsCellularAccess = false
    operation.isLongLived = true
    operation.timeoutIntervalForRequest = 1
    operation.timeoutIntervalForResource = 2
    #expect(operation.configuration.container === operation.container)
    #expect(!operation.allowsCellularAccess && operation.isLongLived)
    #expect(operation.configuration.timeoutIntervalForRequest == 1)
    #expect(operation.timeoutIntervalForRequest == 1 && operation.timeoutIntervalForResource == 2)
  }

  @available(*, deprecated)
  @Test("The deprecated blocks keep what they are given")
  func deprecatedBlocks() {
    let modify = CKModifyRecordsOperation()
    modify.perRecordCompletionBlock = { record, error in _ = (record.recordID, error) }
    modify.modifyRecordsCompletionBlock = { saved, deleted, error in _ = (saved, deleted, error) }
    #expect(modify.perRecordCompletionBlock != nil && modify.modifyRecordsCompletionBlock != nil)
    let fetch = CKFetchRecordsOperation()
    fetch.perRecordCompletionBlock = { record, id, error in _ = (record, id, error) }
    fetch.fetchRecordsCompletionBlock = { records, error in _ = (records?.keys, error) }
    #expect(fetch.perRecordCompletionBlock != nil && fetch.fetchRecordsCompletionBlock != nil)
    let zones = CKModifyRecordZonesOperation()
    zones.modifyRecordZonesCompletionBlock = { _, _, _ in }
    #expect(zones.modifyRecordZonesCompletionBlock != nil)
    let fetchZones = CKFetchRecordZonesOperation()
    fetchZones.fetchRecordZonesCompletionBlock = { zones, error in _ = (zones?.values, error) }
    #expect(fetchZones.fetchRecordZonesCompletionBlock != nil)
    let subscriptions = CKModifySubscriptionsOperation()
    subscriptions.modifySubscriptionsCompletionBlock = { _, _, _ in }
    #expect(subscriptions.modifySubscriptionsCompletionBlock != nil)
    let fetchSubscriptions = CKFetchSubscriptionsOperation()
    fetchSubscriptions.fetchSubscriptionCompletionBlock = { _, _ in }
    #expect(fetchSubscriptions.fetchSubscriptionCompletionBlock != nil)

    let database = CKFetchDatabaseChangesOperation()
    database.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
      _ = (token, moreComing, error)
    }
    #expect(database.fetchDatabaseChangesCompletionBlock != nil)
    let zoneID = CKRecordZone.ID(zoneName: "Work")
    let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
    let changes = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], optionsByRecordZoneID: [zoneID: options])
    changes.recordChangedBlock = { _ in }
    changes.fetchRecordZoneChangesCompletionBlock = { _ in }
    changes.recordZoneFetchCompletionBlock = { _, _, _, _, _ in }
    #expect(changes.optionsByRecordZoneID?[zoneID] != nil && changes.recordChangedBlock != nil)
    #expect(changes.fetchRecordZoneChangesCompletionBlock != nil)
    #expect(changes.recordZoneFetchCompletionBlock != nil)

    let old = CKFetchRecordChangesOperation(recordZoneID: zoneID, previousServerChangeToken: nil)
    old.desiredKeys = ["title"]
    old.resultsLimit = 5
    old.recordChangedBlock = { _ in }
    old.recordWithIDWasDeletedBlock = { _ in }
    old.fetchRecordChangesCompletionBlock = { _, _, _ in }
    #expect(old.recordZoneID == zoneID && old.previousServerChangeToken == nil)
    #expect(!old.moreComing && old.resultsLimit == 5 && old.desiredKeys == ["title"])
    #expect(old.recordChangedBlock != nil && old.recordWithIDWasDeletedBlock != nil)
    #expect(old.fetchRecordChangesCompletionBlock != nil)
    #expect(CKFetchRecordChangesOperation().recordZoneID == nil)
  }
}
