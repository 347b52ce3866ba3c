import CloudKit
import PetrelTesting
import Testing

/// Query subscriptions that come back from the server.
struct FetchedSubscriptionTests {
  @Test("a subscription that comes back equals the saved one, whatever its predicate is")
  func equality() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna", device: "phone").privateCloudDatabase
    let place = CLLocation(latitude: 1, longitude: 2)
    let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "_x"), action: .none)
    let seed = CKRecord(recordType: "Note")
    seed["n"] = 1
    seed["f"] = 1.5
    seed["s"] = "a"
    seed["l"] = ["a"]
    seed["d"] = Date()
    seed["place"] = place
    seed["r"] = CKRecord.Reference(recordID: seed.recordID, action: .none)
    try await database.save(seed)
    for (format, arguments) in [
      ("n BETWEEN {1, 3}", []), ("NOT s == 'a'", []), ("s != 'a'", []), ("ANY l == 'a'", []),
      ("l CONTAINS 'a'", []), ("3 < n", []), ("f >= 1.1", []), ("s BEGINSWITH 'a'", []),
      ("s IN {'a', 'b'}", []), ("s == 'a' AND n == 1 AND f < 2", []), ("TRUEPREDICATE", []),
      ("distanceToLocation:fromLocation:(place, %@) < 1000", [place]), ("d > %@", [Date()]),
      ("creatorUserRecordID == %@", [reference]), ("r == %@", [reference]),
    ] as [(String, [Any])] {
      let subscription = CKQuerySubscription(
        recordType: "Note", predicate: NSPredicate(format: format, argumentArray: arguments),
        subscriptionID: "s")
      subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: format)
      let saved = try await database.save(subscription)
      #expect(saved == subscription, "\(format)")
      #expect(try await database.subscription(for: "s") == subscription, "\(format)")
    }
  }
}
