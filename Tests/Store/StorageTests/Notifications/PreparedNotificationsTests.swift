import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct PreparedNotificationsTests {
  @Test(
    "each is stored as it is by itself, whatever they have in common", arguments: Seeds.some(20))
  func alike(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    let change = Self.change(&random)
    let kinds = (0..<4).map { _ in Self.subscription(&random) }
    var (firings, contentNumbers): ([StoredSubscription], [UInt64]) = ([], [])
    for number in 0..<40 {
      let kind = Int.random(in: 0..<kinds.count, using: &random)
      var subscription = kinds[kind]
      subscription.subscriptionID = String(repeating: "s", count: number % 5) + "\(number)"
      firings.append(
        StoredSubscription(subscriber: "_\(number / 3)", subscription: subscription, version: 1))
      contentNumbers.append(UInt64(kind) << 32)
    }
    let carriesLastValues = random.chance(1, in: 2)
    for numbers in [nil, contentNumbers] {
      let prepared = PreparedNotifications(
        of: change, for: firings, contentNumbers: numbers, carriesLastValues: carriesLastValues)
      #expect(prepared.elements.map(\.subscriber) == firings.map(\.subscriber), "seed \(seed)")
      for (place, firing) in firings.enumerated() {
        let alone = SubscriptionNotification(
          database: TestStore.address(.public), subscriber: firing.subscriber,
          subscription: firing.subscription, change: change, carriesLastValues: carriesLastValues
        ).trimmed()
        let element = prepared.elements[place]
        #expect(Array(prepared.content(at: place)) == alone.storedContent, "seed \(seed)")
        #expect(prepared.change(at: place) == alone.change, "seed \(seed)")
        #expect(element.firesOnce == firing.subscription.firesOnce, "seed \(seed)")
        #expect(
          element.raisesBadge == firing.subscription.notificationInfo?.shouldBadge, "seed \(seed)")
      }
    }
  }

  private static func change(_ random: inout SeededGenerator) -> Change {
    var record = Record(recordID: RecordID(recordName: "n"), recordType: "Note")
    for name in ["a", "b", "c"] where random.chance(2, in: 3) {
      record.fields[name] = .string("value of \(name)")
    }
    if record.fields["c"] != nil { record.encryptedFields = ["c"] }
    return Change(
      event: .recordUpdated, zoneID: .default, record: record, notificationID: UUID(),
      timestamp: .now, userRecordName: "_1", deviceID: "d")
  }

  private static func subscription(_ random: inout SeededGenerator) -> Subscription {
    noteSubscription(
      "", filters: [Filter(.field("a"), .equals, .int64(Int64.random(in: 0..<9, using: &random)))],
      options: random.chance(1, in: 2) ? [.firesOnRecordUpdate, .firesOnce] : .firesOnRecordUpdate,
      badge: random.chance(1, in: 2),
      desiredKeys: ["a", "b", "c"].filter { _ in random.chance(1, in: 2) })
  }
}
