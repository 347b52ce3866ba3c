import CloudKit
import Testing

struct PartialFailureTests {
  /// The results that an operation's blocks received, by style.
  private struct Outcome {
    var items: [AnyHashable: CKError.Code]
    var result: CKError?
    var completion: CKError?

    /// The item errors went to their blocks, the result block got success, and the completion block
    /// got them together under the items' IDs.
    var isByItem: Bool { result == nil && hasItems(completion) }

    /// The item errors went to their blocks, and both the result block and the completion block got
    /// them together under the items' IDs.
    var isWhole: Bool { hasItems(result) && hasItems(completion) }

    private func hasItems(_ error: CKError?) -> Bool {
      error?.code == .partialFailure
        && error?.partialErrorsByItemID?.compactMapValues { ($0 as? CKError)?.code } == items
        && !items.isEmpty
    }
  }

  private final class Box: @unchecked Sendable {
    var items: [AnyHashable: CKError.Code] = [:]
    var result: CKError?
    var completion: CKError?

    func note<Value>(_ item: AnyHashable, _ result: Result<Value, any Error>) {
      if let error = result.error { items[item] = error.code }
    }
  }

  private func outcome(
    of operation: CKDatabaseOperation, in database: CKDatabase, _ box: Box
  ) async -> Outcome {
    await operation.end(in: database)
    return Outcome(items: box.items, result: box.result, completion: box.completion)
  }

  @available(*, deprecated)
  @Test("Fetching gives them to the item blocks, and together to the old completion block only")
  func fetching() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await database.add("Item", "A")
      let missing = CKRecord.ID(recordName: "missing")
      let box = Box()
      let records = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "A"), missing])
      records.perRecordResultBlock = { box.note($0, $1) }
      records.fetchRecordsResultBlock = { box.result = $0.error }
      records.fetchRecordsCompletionBlock = { found, error in
        #expect(found?.keys.map(\.recordName) == ["A"])
        box.completion = error as? CKError
      }
      let fetched = await outcome(of: records, in: database, box)
      #expect(fetched.isByItem && fetched.items == [missing: .unknownItem])

      let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
      let zoneBox = Box()
      let zones = CKFetchRecordZonesOperation(recordZoneIDs: [.default, nowhere])
      zones.perRecordZoneResultBlock = { zoneBox.note($0, $1) }
      zones.fetchRecordZonesResultBlock = { zoneBox.result = $0.error }
      zones.fetchRecordZonesCompletionBlock = { zoneBox.completion = $1 as? CKError }
      let fetchedZones = await outcome(of: zones, in: database, zoneBox)
      #expect(fetchedZones.isByItem && fetchedZones.items == [nowhere: .zoneNotFound])

      let subscriptionBox = Box()
      let subscriptions = CKFetchSubscriptionsOperation(subscriptionIDs: ["none"])
      subscriptions.perSubscriptionResultBlock = { subscriptionBox.note($0, $1) }
      subscriptions.fetchSubscriptionsResultBlock = { subscriptionBox.result = $0.error }
      subscriptions.fetchSubscriptionCompletionBlock = {
        subscriptionBox.completion = $1 as? CKError
      }
      let fetchedSubscriptions = await outcome(of: subscriptions, in: database, subscriptionBox)
      #expect(
        fetchedSubscriptions.isByItem && fetchedSubscriptions.items == ["none": .unknownItem])
    }
  }

  @available(*, deprecated)
  @Test("Modifying does the same, with the IDs of records, zones and subscriptions as keys")
  func modifying() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
      let astray = CKRecord("Item", "A", zone: nowhere)
      let box = Box()
      let records = CKModifyRecordsOperation(
        recordsToSave: [astray, CKRecord("Item", "B")],
        recordIDsToDelete: [CKRecord.ID(recordName: "C", zoneID: nowhere)])
      records.perRecordSaveBlock = { box.note($0, $1) }
      records.perRecordDeleteBlock = { box.note($0, $1) }
      records.modifyRecordsResultBlock = { box.result = $0.error }
      records.modifyRecordsCompletionBlock = { saved, _, error in
        #expect(saved?.map(\.recordID.recordName) == ["B"])
        box.completion = error as? CKError
      }
      let modified = await outcome(of: records, in: database, box)
      #expect(modified.isWhole)
      #expect(modified.items[astray.recordID] == .zoneNotFound && modified.items.count == 2)

      for (zoneID, isAtomic) in [(nowhere, false), (CKRecordZone.ID.default, true)] {
        let box = Box()
        let operation = CKModifyRecordsOperation(
          recordsToSave: [CKRecord("Item", "B", zone: zoneID)])
        operation.isAtomic = isAtomic
        operation.perRecordSaveBlock = { box.note($0, $1) }
        operation.modifyRecordsResultBlock = { box.result = $0.error }
        operation.modifyRecordsCompletionBlock = { box.completion = $2 as? CKError }
        #expect(await outcome(of: operation, in: database, box).isByItem, "\(zoneID.zoneName)")
      }

      let zoneBox = Box()
      let zones = CKModifyRecordZonesOperation(
        recordZonesToSave: [CKRecordZone(zoneName: "Notes")], recordZoneIDsToDelete: [nowhere])
      zones.perRecordZoneSaveBlock = { zoneBox.note($0, $1) }
      zones.perRecordZoneDeleteBlock = { zoneBox.note($0, $1) }
      zones.modifyRecordZonesResultBlock = { zoneBox.result = $0.error }
      zones.modifyRecordZonesCompletionBlock = { zoneBox.completion = $2 as? CKError }
      let modifiedZones = await outcome(of: zones, in: database, zoneBox)
      #expect(modifiedZones.isByItem && modifiedZones.items == [nowhere: .zoneNotFound])

      let subscriptionBox = Box()
      let subscriptions = CKModifySubscriptionsOperation(
        subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "kept")],
        subscriptionIDsToDelete: ["none"])
      subscriptions.perSubscriptionSaveBlock = { subscriptionBox.note($0, $1) }
      subscriptions.perSubscriptionDeleteBlock = { subscriptionBox.note($0, $1) }
      subscriptions.modifySubscriptionsResultBlock = { subscriptionBox.result = $0.error }
      subscriptions.modifySubscriptionsCompletionBlock = {
        subscriptionBox.completion = $2 as? CKError
      }
      let modifiedSubscriptions = await outcome(of: subscriptions, in: database, subscriptionBox)
      #expect(
        modifiedSubscriptions.isByItem && modifiedSubscriptions.items == ["none": .unknownItem])
    }
  }

  @available(*, deprecated)
  @Test("A feed of zones fails as a whole only if every zone fails")
  func feeds() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let notes = try await database.addZone("Notes")
      let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
      for (zoneIDs, isWhole) in [([notes, nowhere], false), ([nowhere], true)] {
        let box = Box()
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: zoneIDs)
        operation.recordZoneFetchResultBlock = { box.note($0, $1) }
        operation.fetchRecordZoneChangesResultBlock = { box.result = $0.error }
        operation.fetchRecordZoneChangesCompletionBlock = { box.completion = $0 as? CKError }
        let outcome = await outcome(of: operation, in: database, box)
        #expect(outcome.items == [nowhere: .zoneNotFound])
        #expect(outcome.isWhole == isWhole && outcome.isByItem == !isWhole)
      }
    }
  }

  @Test("Methods for several items throw none of their errors, unless a list would have gaps")
  func several() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
      let recordID = CKRecord.ID(recordName: "A", zoneID: nowhere)
      #expect(try await database.records(for: [recordID])[recordID]?.error?.code == .zoneNotFound)
      #expect(
        try await database.recordZones(for: [nowhere])[nowhere]?.error?.code == .zoneNotFound)
      #expect(try await database.subscriptions(for: ["none"])["none"]?.error?.code == .unknownItem)
      let zones = try await database.modifyRecordZones(saving: [], deleting: [nowhere])
      #expect(zones.deleteResults[nowhere]?.error?.code == .zoneNotFound)
      let subscriptions = try await database.modifySubscriptions(saving: [], deleting: ["none"])
      #expect(subscriptions.deleteResults["none"]?.error?.code == .unknownItem)
      let feed = await #expect(throws: CKError.self) {
        try await database.recordZoneChanges(inZoneWith: nowhere, since: nil)
      }
      #expect(feed?.code == .zoneNotFound)
      let query = await #expect(throws: CKError.self) {
        try await database.records(
          matching: CKQuery(recordType: "Never", predicate: NSPredicate(value: true)))
      }
      #expect(query?.code == .unknownItem)
      #expect(query?.localizedDescription.contains("Did not find record type: Never") == true)
    }
  }

  @Test("Methods for one item give the item's own error")
  func single() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
      let record = await #expect(throws: CKError.self) {
        try await database.record(for: CKRecord.ID(recordName: "A"))
      }
      let zone = await #expect(throws: CKError.self) {
        try await database.recordZone(for: nowhere)
      }
      let subscription = await #expect(throws: CKError.self) {
        try await database.subscription(for: "none")
      }
      let saving = await #expect(throws: CKError.self) {
        try await database.save(CKRecord("Item", "A", zone: nowhere))
      }
      let deletingZone = await #expect(throws: CKError.self) {
        try await database.deleteRecordZone(withID: nowhere)
      }
      let deletingSubscription = await #expect(throws: CKError.self) {
        try await database.deleteSubscription(withID: "none")
      }
      #expect(record?.code == .unknownItem && zone?.code == .zoneNotFound)
      #expect(subscription?.code == .unknownItem && saving?.code == .zoneNotFound)
      #expect(deletingZone?.code == .zoneNotFound)
      #expect(deletingSubscription?.code == .unknownItem)
    }
  }

  @Test("An atomic batch throws partialFailure with the guilty and the innocent by their IDs")
  func atomic() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let notes = try await database.addZone("Notes")
      try await database.add("Item", "taken", zone: notes)
      let batch = ["good", "taken"].map { CKRecord("Item", $0, zone: notes) }
      let error = await #expect(throws: CKError.self) {
        try await database.modifyRecords(saving: batch, deleting: [])
      }
      #expect(error?.code == .partialFailure)
      let errors = error?.partialErrorsByItemID?.compactMapValues { ($0 as? CKError)?.code }
      #expect(
        errors == [
          batch[0].recordID: .batchRequestFailed, batch[1].recordID: .serverRecordChanged,
        ])
      let separately = try await database.modifyRecords(
        saving: batch, deleting: [], atomically: false)
      #expect(separately.saveResults[batch[0].recordID]?.error == nil)
      #expect(separately.saveResults[batch[1].recordID]?.error?.code == .serverRecordChanged)
    }
  }
}
