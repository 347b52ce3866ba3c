import CloudKit

/// Announces strong earthquakes: the code of an app that the guide tests.
struct Alerts {
  let database: CKDatabase

  func subscribe(magnitude: Double) async throws {
    let subscription = CKQuerySubscription(
      recordType: "Earthquake", predicate: NSPredicate(format: "magnitude >= %f", magnitude),
      subscriptionID: "strong", options: .firesOnRecordCreation)
    subscription.notificationInfo = CKSubscription.NotificationInfo(
      alertBody: "A strong earthquake")
    try await database.save(subscription)
  }
}
