import CloudKitModel
import Testing

struct SubscriptionValidationTests {
  private static let work = ZoneID(zoneName: "work")

  private func query(
    _ filters: [Filter] = [], type: String = "Note", zoneID: ZoneID? = nil,
    options: Subscription.Options = .firesOnRecordCreation
  ) -> Subscription.Kind {
    .query(Query(recordType: type, filters: filters), zoneID: zoneID, options: options)
  }

  private func error(
    _ kind: Subscription.Kind, in scope: DatabaseScope = .private, id: String = "s",
    _ info: NotificationInfo? = nil
  ) -> ModelError? {
    do {
      try Subscription(subscriptionID: id, kind: kind, notificationInfo: info).validate(in: scope)
      return nil
    } catch {
      return error
    }
  }

  private func info(_ change: (inout NotificationInfo) -> Void) -> NotificationInfo {
    var info = NotificationInfo()
    change(&info)
    return info
  }

  @Test("Query in public and private, zone in private, database in private and shared")
  func scopes() {
    func scopes(_ kind: Subscription.Kind) -> [DatabaseScope] {
      DatabaseScope.allCases.filter { error(kind, in: $0) == nil }
    }
    #expect(scopes(query()) == [.public, .private])
    #expect(scopes(.recordZone(Self.work, recordType: nil)) == [.private])
    #expect(scopes(.database(recordType: nil)) == [.private, .shared])
  }

  @Test("The error for the wrong scope says which kind works there, and that kind does")
  func advice() {
    let refused = error(query(), in: .shared)
    #expect(refused?.code == .invalidSubscription)
    #expect(refused?.field == "subscriptionType")
    #expect(
      refused?.reason
        == "a query subscription does not work in the shared database; use a database subscription there"
    )
    let zone = Subscription.Kind.recordZone(Self.work, recordType: nil)
    #expect(error(zone, in: .public)?.reason.hasSuffix("use a query subscription there") == true)
    #expect(error(zone, in: .shared)?.reason.hasSuffix("use a database subscription there") == true)
    #expect(
      error(.database(recordType: nil), in: .public)?.reason
        .hasSuffix("use a query subscription there") == true)
  }

  @Test("An ID has 1 to 255 bytes")
  func identifiers() {
    #expect(error(query(), id: "")?.field == "subscriptionID")
    #expect(error(query(), id: String(repeating: "s", count: 255)) == nil)
    #expect(error(query(), id: String(repeating: "s", count: 256))?.field == "subscriptionID")
    #expect(
      error(query(), id: String(repeating: "\u{E9}", count: 128))?.reason
        == "subscriptionID has 256 bytes; the limit is 255")
    #expect(error(query(), id: "_any caf\u{E9}") == nil)
  }

  @Test("A query subscription fires on an event, and its query is well formed")
  func queries() {
    #expect(error(query(options: []))?.field == "firesOn")
    #expect(error(query(options: .firesOnce))?.field == "firesOn")
    #expect(error(query(type: "No type"))?.field == "recordType")
    #expect(error(query([Filter(.field("f"), .isIn, .int64(1))]))?.field == "f")
    #expect(error(query(zoneID: ZoneID(zoneName: "_x")))?.field == "zoneName")
    #expect(error(query(zoneID: .default)) == nil)
    #expect(error(query(zoneID: Self.work)) == nil)
  }

  @Test("A zone subscription watches a custom zone with an allowed name")
  func zones() {
    #expect(error(.recordZone(.default, recordType: nil))?.field == "zoneID")
    #expect(error(.recordZone(ZoneID(zoneName: ""), recordType: nil))?.field == "zoneName")
    #expect(error(.recordZone(Self.work, recordType: "1"))?.field == "recordType")
    #expect(error(.recordZone(Self.work, recordType: "Note")) == nil)
    #expect(error(.database(recordType: "1"))?.field == "recordType")
    #expect(error(.database(recordType: "Note")) == nil)
  }

  @Test("Desired keys are for query subscriptions")
  func desiredKeys() {
    let info = info { $0.desiredKeys = ["a"] }
    #expect(error(query(), info) == nil)
    #expect(error(.recordZone(Self.work, recordType: nil), info)?.field == "desiredKeys")
    #expect(error(.database(recordType: nil), info)?.field == "desiredKeys")
    let none = self.info { $0.desiredKeys = [] }
    #expect(error(.database(recordType: nil), none) == nil)
  }

  @Test("At most three desired keys, and the limit is named")
  func desiredKeysLimit() {
    #expect(error(query(), info { $0.desiredKeys = ["a", "b", "c"] }) == nil)
    let refused = error(query(), info { $0.desiredKeys = ["a", "b", "c", "d"] })
    #expect(refused?.code == .invalidSubscription)
    #expect(refused?.reason == "desiredKeys has 4 keys; the limit is 3")
  }

  @Test("Desired keys and localisation arguments are field names")
  func fieldNames() {
    let lists: [(String, WritableKeyPath<NotificationInfo, [String]?>)] = [
      ("desiredKeys", \.desiredKeys), ("alertLocalizationArgs", \.alertLocalizationArgs),
      ("titleLocalizationArgs", \.titleLocalizationArgs),
      ("subtitleLocalizationArgs", \.subtitleLocalizationArgs),
    ]
    for (name, list) in lists {
      #expect(error(query(), info { $0[keyPath: list] = ["good_1"] }) == nil)
      let refused = error(query(), info { $0[keyPath: list] = ["good", "not good"] })
      #expect(refused?.field == name)
      #expect(refused?.reason.hasPrefix("\(name): field name 'not good'") == true)
    }
  }

  @Test("A collapse ID has at most 64 bytes")
  func collapseID() {
    #expect(error(query(), info { $0.collapseIDKey = String(repeating: "x", count: 64) }) == nil)
    let refused = error(query(), info { $0.collapseIDKey = String(repeating: "\u{E9}", count: 33) })
    #expect(refused?.field == "collapseIDKey")
    #expect(refused?.reason == "collapseIDKey has 66 bytes; the limit is 64")
  }
}
