import CloudKit

let container = CKContainer.default()
let database = container.publicCloudDatabase
if let magnitude = CommandLine.arguments.dropFirst().first.flatMap(Double.init) {
  let earthquake = CKRecord(recordType: "Earthquake")
  earthquake["magnitude"] = magnitude
  _ = try await database.save(earthquake)
} else {
  let strong = CKQuerySubscription(
    recordType: "Earthquake", predicate: NSPredicate(format: "magnitude >= %f", 6.0),
    subscriptionID: "strong", options: .firesOnRecordCreation)
  strong.notificationInfo = CKSubscription.NotificationInfo(alertBody: "A strong earthquake")
  _ = try await database.save(strong)
}
