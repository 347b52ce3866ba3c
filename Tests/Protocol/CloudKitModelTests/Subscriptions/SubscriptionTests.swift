import CloudKitModel
import Foundation
import Testing

struct SubscriptionTests {
  private static let work = ZoneID(zoneName: "work")
  private static let home = ZoneID(zoneName: "home")

  private func change(
    _ event: ChangeEvent, in zoneID: ZoneID = work, type: String? = "Note",
    _ fields: RecordFields<RecordValue> = [:]
  ) -> Change {
    let record = type.map {
      Record(
        recordID: RecordID(recordName: "n", zoneID: zoneID), recordType: $0, fields: fields)
    }
    return Change(
      event: event, zoneID: zoneID, record: record, notificationID: UUID(),
      timestamp: Timestamp(milliseconds: 0))
  }

  private func fires(_ kind: Subscription.Kind, _ change: Change) -> Bool {
    Subscription(subscriptionID: "s", kind: kind).matches(change)
  }

  @Test("A query subscription fires on the events it names and no others")
  func events() {
    let options: [Subscription.Options] = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
    let events: [ChangeEvent] = [.recordCreated, .recordUpdated, .recordDeleted]
    for (index, option) in options.enumerated() {
      let kind = Subscription.Kind.query(Query(recordType: "Note"), zoneID: nil, options: option)
      #expect(events.map { fires(kind, change($0)) } == events.indices.map { $0 == index })
    }
    let all = Subscription.Kind.query(
      Query(recordType: "Note"), zoneID: nil, options: [.events, .firesOnce])
    #expect(!fires(all, change(.zoneCreated, type: nil)))
    #expect(!fires(all, change(.zoneDeleted)))
    #expect(!fires(all, change(.recordCreated, type: nil)))
    let none = Subscription.Kind.query(
      Query(recordType: "Note"), zoneID: nil, options: .firesOnce)
    #expect(!fires(none, change(.recordCreated)))
  }

  @Test("A query subscription asks for type, filters and zone")
  func query() {
    let filter = Filter(.field("a"), .equals, .int64(1))
    func kind(_ zoneID: ZoneID?) -> Subscription.Kind {
      .query(Query(recordType: "Note", filters: [filter]), zoneID: zoneID, options: .events)
    }
    let right: RecordFields<RecordValue> = ["a": .double(1)]
    #expect(fires(kind(nil), change(.recordCreated, right)))
    #expect(fires(kind(Self.work), change(.recordCreated, right)))
    #expect(!fires(kind(Self.home), change(.recordCreated, right)))
    #expect(fires(kind(.default), change(.recordCreated, in: .default, right)))
    #expect(!fires(kind(nil), change(.recordCreated, ["a": .int64(2)])))
    #expect(!fires(kind(nil), change(.recordCreated, type: "Task", right)))
  }

  @Test("A zone subscription fires on every event in its zone, of its record type if it has one")
  func recordZone() {
    let any = Subscription.Kind.recordZone(Self.work, recordType: nil)
    let notes = Subscription.Kind.recordZone(Self.work, recordType: "Note")
    for event in ChangeEvent.allCases {
      let type = event.queryOption == nil ? nil : "Note"
      #expect(fires(any, change(event, type: type)))
      #expect(fires(notes, change(event, type: type)) == (type != nil))
    }
    #expect(!fires(any, change(.recordCreated, in: Self.home)))
    #expect(!fires(notes, change(.recordCreated, type: "Task")))
    #expect(
      !fires(.recordZone(.default, recordType: nil), change(.recordCreated, in: .default)))
    let others = ZoneID(zoneName: "work", ownerName: "_ann")
    #expect(!fires(any, change(.recordCreated, in: others)))
  }

  @Test("A database subscription fires in every custom zone, of its record type if it has one")
  func database() {
    let any = Subscription.Kind.database(recordType: nil)
    let notes = Subscription.Kind.database(recordType: "Note")
    for zoneID in [Self.work, Self.home] {
      #expect(fires(any, change(.recordDeleted, in: zoneID)))
      #expect(fires(any, change(.zoneCreated, in: zoneID, type: nil)))
      #expect(fires(notes, change(.recordDeleted, in: zoneID)))
    }
    #expect(!fires(any, change(.recordCreated, in: .default)))
    #expect(!fires(notes, change(.recordCreated, type: "Task")))
    #expect(!fires(notes, change(.zoneDeleted, type: nil)))
  }

  @Test("Only a query subscription fires once")
  func firesOnce() {
    func once(_ kind: Subscription.Kind) -> Bool {
      Subscription(subscriptionID: "s", kind: kind).firesOnce
    }
    let query = Query(recordType: "Note")
    #expect(once(.query(query, zoneID: nil, options: [.firesOnRecordUpdate, .firesOnce])))
    #expect(!once(.query(query, zoneID: nil, options: .events)))
    #expect(!once(.database(recordType: nil)))
  }

  @Test("A trimmed notification keeps the fields that its info refers to, and the rest as it is")
  func trimming() {
    var info = NotificationInfo()
    info.desiredKeys = ["a"]
    info.titleLocalizationArgs = ["b", "missing"]
    let change = change(
      .recordCreated, ["a": .int64(1), "b": .int64(2), "c": .string("long")])
    var notification = SubscriptionNotification(
      database: DatabaseAddress(
        container: "iCloud.test", environment: .production, scope: .public, owner: nil),
      subscriber: "_ann",
      subscription: Subscription(
        subscriptionID: "s", kind: .database(recordType: nil), notificationInfo: info),
      change: change)
    #expect(notification.trimmed().change.record?.fields == ["a": .int64(1), "b": .int64(2)])
    #expect(notification.trimmed().change.record?.recordID == change.record?.recordID)
    notification.subscription.notificationInfo = nil
    #expect(notification.trimmed().change.record?.fields == [:])
    notification.change.record = nil
    #expect(notification.trimmed() == notification)
  }
}
