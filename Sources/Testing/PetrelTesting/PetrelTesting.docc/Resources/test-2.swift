import CloudKit
import PetrelTesting
import Testing

@Test("a note that is pinned on the phone is announced on the tablet")
func announcesPinnedNotes() async throws {
  let cloud = try await TestCloud()
  let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
  let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase

  let subscription = CKQuerySubscription(
    recordType: "Note", predicate: NSPredicate(format: "pinned == 1"),
    subscriptionID: "pinned-notes", options: .firesOnRecordCreation)
  subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "A pinned note")
  try await tablet.save(subscription)

  let note = CKRecord(recordType: "Note")
  note["title"] = "Milk"
  note["pinned"] = 1
  try await phone.save(note)
}
