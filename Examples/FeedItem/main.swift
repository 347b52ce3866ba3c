import CloudKit

// Subscribes to new feed items that are tagged 'Swift', once: later launches find the flag.

let flag = "didCreateFeedSubscription"
let defaults = UserDefaults.standard

guard !defaults.bool(forKey: flag) else {
  print("The subscription was saved by an earlier launch.")
  exit(EXIT_SUCCESS)
}

let recordZone = CKRecordZone(zoneName: "Feed")
let zoneOperation = CKModifyRecordZonesOperation(
  recordZonesToSave: [recordZone], recordZoneIDsToDelete: nil)
zoneOperation.qualityOfService = .utility
zoneOperation.modifyRecordZonesResultBlock = { result in
  if case .failure(let error) = result {
    print("The zone was not saved: \(error.localizedDescription)")
  }
}

let subscription = CKQuerySubscription(
  recordType: "FeedItem",
  predicate: NSPredicate(format: "tags CONTAINS 'Swift'"),
  subscriptionID: "tagged-feed-changes",
  options: .firesOnRecordCreation)

// Only items in this zone count.
subscription.zoneID = recordZone.zoneID

// A silent push: the app is woken in the background and the user sees nothing.
let notificationInfo = CKSubscription.NotificationInfo()
notificationInfo.shouldSendContentAvailable = true
subscription.notificationInfo = notificationInfo

let operation = CKModifySubscriptionsOperation(
  subscriptionsToSave: [subscription], subscriptionIDsToDelete: nil)
operation.qualityOfService = .utility
operation.perSubscriptionSaveBlock = { subscriptionID, result in
  switch result {
  case .success:
    defaults.setValue(true, forKey: flag)
    print("Saved: \(subscriptionID)")
  case .failure(let error):
    print("The subscription was not saved: \(error.localizedDescription)")
  }
}
operation.modifySubscriptionsResultBlock = { result in
  if case .failure(let error) = result {
    print("The subscription was not saved: \(error.localizedDescription)")
  }
}

operation.addDependency(zoneOperation)
CKContainer.default().privateCloudDatabase.add(zoneOperation)
CKContainer.default().privateCloudDatabase.add(operation)
operation.waitUntilFinished()
exit(defaults.bool(forKey: flag) ? EXIT_SUCCESS : EXIT_FAILURE)
