import CloudKitModel
import Testing

@testable import CloudKit

struct FetchedSubscriptionTests {
  private static let place = CLLocation(latitude: 1, longitude: 2)
  private static let user = CKRecord.Reference(
    recordID: CKRecord.ID(recordName: "_abc"), action: .none)

  private func subscription(_ predicate: NSPredicate) -> CKQuerySubscription {
    CKQuerySubscription(recordType: "T", predicate: predicate, subscriptionID: "s")
  }

  @Test(
    "A subscription that was fetched equals the saved one, also if its predicate has another form",
    arguments: [
      ("n BETWEEN {1, 3}", []), ("NOT s == 'a'", []), ("ANY l == 'a'", []), ("3 < n", []),
      ("distanceToLocation:fromLocation:(loc, %@) < 1000", [FetchedSubscriptionTests.place]),
      ("creatorUserRecordID == %@", [FetchedSubscriptionTests.user]),
      ("r == %@", [FetchedSubscriptionTests.user]), ("s == 'a' AND n == 1", []),
    ] as [(String, [any Sendable])])
  func equality(format: String, arguments: [any Sendable]) throws {
    let saved = subscription(NSPredicate(format: format, argumentArray: arguments))
    let fetched = CKQuerySubscription(
      Query(recordType: "T", filters: try saved.predicate.filters(now: nil)), zoneID: nil,
      options: .events, subscriptionID: "s")
    #expect(saved == fetched && fetched == saved)
    #expect(saved.hash == fetched.hash)
    #expect(saved != subscription(NSPredicate(format: "n BETWEEN {1, 4}")))
  }

  @Test("Predicates that no server accepts are compared by their formats")
  func unsupported() {
    func subscription(_ format: String) -> CKQuerySubscription {
      self.subscription(NSPredicate(format: format))
    }
    #expect(subscription("s LIKE 'a'") == subscription("s like \"a\""))
    #expect(subscription("s LIKE 'a'") != subscription("s LIKE 'b'"))
    #expect(subscription("d < now()") == subscription("d < now()"))
  }
}
