import CloudKit
import CloudKitModel
import Testing

struct SubscriptionTests {
  private let predicate = NSPredicate(format: "artist == %@", "Mona")

  @Test("Defaults are Apple's")
  func defaults() {
    let query = CKQuerySubscription(
      recordType: "Artwork", predicate: predicate, subscriptionID: "q")
    #expect(query.subscriptionType == .query)
    #expect(query.subscriptionType.rawValue == 1)
    #expect(
      query.querySubscriptionOptions
        == [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
    #expect(query.querySubscriptionOptions.rawValue == 7)
    #expect(query.zoneID == nil)
    #expect(query.notificationInfo == nil)
    #expect(query.recordType == "Artwork")
    let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
    #expect(zone.subscriptionType.rawValue == 2)
    #expect(zone.recordType == nil)
    let database = CKDatabaseSubscription(subscriptionID: "d")
    #expect(database.subscriptionType.rawValue == 3)
    #expect(CKQuerySubscription.Options.firesOnce.rawValue == 8)
  }

  @Test("Subscriptions are equal if all their properties are, as a copy's and an archive's are")
  func equality() throws {
    func query(
      _ id: String = "q", type: String = "Artwork", options: CKQuerySubscription.Options = [],
      predicate: NSPredicate? = nil, zone: CKRecordZone.ID? = nil, alert: String? = "New"
    ) -> CKSubscription {
      let subscription = CKQuerySubscription(
        recordType: type, predicate: predicate ?? self.predicate, subscriptionID: id,
        options: options.union(.firesOnRecordCreation))
      subscription.zoneID = zone
      subscription.notificationInfo = alert.map { .init(alertBody: $0) }
      return subscription
    }
    func zone(_ name: String, type: String? = nil) -> CKSubscription {
      let zoneID = CKRecordZone.ID(zoneName: name)
      let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "q")
      subscription.recordType = type
      return subscription
    }
    func database(_ id: String = "q", type: String? = nil) -> CKSubscription {
      let subscription = CKDatabaseSubscription(subscriptionID: id)
      subscription.recordType = type
      return subscription
    }
    let different = [
      query(), query("p"), query(type: "Artist"), query(options: .firesOnce),
      query(predicate: NSPredicate(value: true)), query(zone: .default), query(alert: nil),
      query(alert: "Old"), zone("a"), zone("b"), zone("a", type: "Artwork"), database(),
      database("p"), database(type: "Artwork"),
    ]
    for (i, one) in different.enumerated() {
      let same = [
        one, try #require(one.copy() as? CKSubscription), try archivedAndBack(one),
      ]
      for other in same {
        #expect(one == other && one.hash == other.hash, "\(one)")
      }
      for (j, other) in different.enumerated() where i != j {
        #expect(one != other, "\(one), \(other)")
      }
    }
    #expect(Set(different + different).count == different.count)
    #expect(query(predicate: NSPredicate(format: "artist = 'Mona'")) == query())
  }

  @available(*, deprecated)
  @Test("Subscriptions of the first interface are equal among themselves")
  func equalityOfFirstInterface() {
    func subscription(_ type: String) -> CKSubscription {
      CKSubscription(
        recordType: type, predicate: predicate, subscriptionID: "q", options: .firesOnRecordUpdate)
    }
    #expect(subscription("A") == subscription("A") && subscription("A") != subscription("B"))
    let query = CKQuerySubscription(
      recordType: "A", predicate: predicate, subscriptionID: "q", options: .firesOnRecordUpdate)
    #expect(subscription("A") != query && query != subscription("A"))
  }

  @available(*, deprecated)
  @Test("Without an ID, a UUID is made")
  func withoutID() {
    let query = CKQuerySubscription(
      recordType: "A", predicate: predicate, options: .firesOnRecordCreation)
    #expect(UUID(uuidString: query.subscriptionID) != nil)
    #expect(UUID(uuidString: CKDatabaseSubscription().subscriptionID) != nil)
    #expect(UUID(uuidString: CKRecordZoneSubscription(zoneID: .default).subscriptionID) != nil)
  }

  @Test("Subscriptions of two kinds share their base class and its info")
  func baseClass() {
    for isDatabase in [true, false] {
      let subscription =
        isDatabase
        ? CKDatabaseSubscription(subscriptionID: "d")
        : CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
      subscription.notificationInfo = CKSubscription.NotificationInfo(
        shouldSendContentAvailable: true)
      #expect(subscription.notificationInfo?.shouldSendContentAvailable == true)
    }
  }

  @Test("The info is copied when it is set")
  func infoIsCopied() {
    let subscription = CKDatabaseSubscription(subscriptionID: "d")
    let info = CKSubscription.NotificationInfo()
    info.alertBody = "one"
    subscription.notificationInfo = info
    info.alertBody = "two"
    #expect(subscription.notificationInfo?.alertBody == "one")
    subscription.notificationInfo?.alertBody = "three"
    #expect(subscription.notificationInfo?.alertBody == "three")
  }

  @Test("An info has Apple's defaults and takes all arguments")
  func info() {
    let empty = CKSubscription.NotificationInfo()
    #expect(empty.desiredKeys == nil)
    #expect(empty.alertLocalizationArgs == nil)
    #expect(!empty.shouldBadge && !empty.shouldSendContentAvailable)
    #expect(empty.model == NotificationInfo())
    let partial = CKSubscription.NotificationInfo(alertBody: "x")
    #expect(partial.desiredKeys == [])
    #expect(partial.model.desiredKeys == nil)
  }

  private var fullInfo: CKSubscription.NotificationInfo {
    CKSubscription.NotificationInfo(
      alertBody: "a", alertLocalizationKey: "b", alertLocalizationArgs: ["c"], title: "d",
      titleLocalizationKey: "e", titleLocalizationArgs: ["f"], subtitle: "g",
      subtitleLocalizationKey: "h", subtitleLocalizationArgs: ["i"],
      alertActionLocalizationKey: "j", alertLaunchImage: "k", soundName: "l", desiredKeys: ["m"],
      shouldBadge: true, shouldSendContentAvailable: true, shouldSendMutableContent: true,
      category: "n", collapseIDKey: "o")
  }

  @Test("Each argument of an info becomes its own property of the model")
  func infoConversion() {
    var expected = NotificationInfo()
    expected.alertBody = "a"
    expected.alertLocalizationKey = "b"
    expected.alertLocalizationArgs = ["c"]
    expected.title = "d"
    expected.titleLocalizationKey = "e"
    expected.titleLocalizationArgs = ["f"]
    expected.subtitle = "g"
    expected.subtitleLocalizationKey = "h"
    expected.subtitleLocalizationArgs = ["i"]
    expected.alertActionLocalizationKey = "j"
    expected.alertLaunchImage = "k"
    expected.soundName = "l"
    expected.desiredKeys = ["m"]
    expected.shouldBadge = true
    expected.shouldSendContentAvailable = true
    expected.shouldSendMutableContent = true
    expected.category = "n"
    expected.collapseIDKey = "o"
    #expect(fullInfo.model == expected)
    #expect(fullInfo.collapseIDKey == "o")
    #expect(fullInfo.subtitleLocalizationArgs == ["i"])
  }

  private var all: [CKSubscription] {
    let query = CKQuerySubscription(
      recordType: "Artwork", predicate: NSPredicate(format: "a == 1 AND b CONTAINS %@", "x"),
      subscriptionID: "q", options: [.firesOnRecordCreation, .firesOnce])
    query.zoneID = CKRecordZone.ID(zoneName: "Z")
    query.notificationInfo = fullInfo
    let zone = CKRecordZoneSubscription(
      zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: "_o"), subscriptionID: "z")
    zone.recordType = "Artwork"
    let database = CKDatabaseSubscription(subscriptionID: "d")
    database.recordType = "Artwork"
    database.notificationInfo = fullInfo
    return [query, zone, database, CKDatabaseSubscription(subscriptionID: "e")]
  }

  @Test("Each kind becomes the model's and comes back")
  func conversion() throws {
    for subscription in all {
      let model = try subscription.model()
      let back = CKSubscription.subscription(model)
      #expect(type(of: back) == type(of: subscription))
      #expect(try back.model() == model)
    }
    guard case .query(let query, let zoneID, let options) = try all[0].model().kind else {
      Issue.record("not a query subscription")
      return
    }
    #expect(query.filters.count == 2)
    #expect(zoneID == ZoneID(zoneName: "Z"))
    #expect(options == [.firesOnRecordCreation, .firesOnce])
  }

  @Test("Each kind goes through a secure archive and through a copy")
  func archivingAndCopying() throws {
    for subscription in all {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: subscription, requiringSecureCoding: true)
      let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKSubscription.self, from: data)
      #expect(try back?.model() == subscription.model())
      let copy = subscription.copy() as! CKSubscription
      #expect(try copy.model() == subscription.model())
      #expect(copy !== subscription)
    }
    #expect(try archivedAndBack(fullInfo) == fullInfo)
  }

  @available(*, deprecated)
  @Test(
    "Those of the first interface go through a secure archive and through a copy as what they are")
  func firstInterface() throws {
    let query = CKSubscription(
      recordType: "Artwork", predicate: predicate, subscriptionID: "q",
      options: .firesOnRecordUpdate)
    query.zoneID = CKRecordZone.ID(zoneName: "Z")
    let zone = CKSubscription(
      zoneID: CKRecordZone.ID(zoneName: "Z"), subscriptionID: "z", options: [])
    for subscription in [query, zone] {
      subscription.notificationInfo = fullInfo
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: subscription, requiringSecureCoding: true)
      let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKSubscription.self, from: data)
      let copy = try #require(subscription.copy() as? CKSubscription)
      for one in try [#require(back), copy] {
        #expect(type(of: one) == CKSubscription.self && one !== subscription)
        #expect(try one.model() == subscription.model())
        #expect(one.zoneID == subscription.zoneID && one.predicate == subscription.predicate)
      }
      copy.notificationInfo = nil
      #expect(subscription.notificationInfo == fullInfo)
    }
    let copy = try #require(query.copy() as? CKSubscription)
    copy.zoneID = nil
    #expect(query.zoneID?.zoneName == "Z")
    #expect(try copy.model() != query.model())
  }

  @Test("The description of each kind says what it fires on")
  func descriptions() {
    #expect(
      all.map(\.description) == [
        "<CKQuerySubscription: q, creation, once of Artwork where a == 1 AND b CONTAINS \"x\" in zone Z:"
          + "\(CKCurrentUserDefaultName)>",
        "<CKRecordZoneSubscription: z, all changes of Artwork in zone Z:_o>",
        "<CKDatabaseSubscription: d, all changes of Artwork in the database>",
        "<CKDatabaseSubscription: e, all changes in the database>",
      ])
  }

  @available(*, deprecated)
  @Test("The classes that came after have the first interface's properties too")
  func firstProperties() {
    let subscriptions = all
    #expect(subscriptions.map(\.recordType) == ["Artwork", "Artwork", "Artwork", nil])
    #expect(subscriptions.map { $0.predicate != nil } == [true, false, false, false])
    #expect(subscriptions.map(\.zoneID?.zoneName) == ["Z", "Z", nil, nil])
    #expect(subscriptions.map(\.subscriptionOptions.rawValue) == [9, 0, 0, 0])
  }

  @available(*, deprecated)
  @Test("Options for a zone stop the program, and so does another zone for it")
  func firstInterfaceStops() async {
    await #expect(processExitsWith: .failure) {
      _ = CKSubscription(zoneID: .default, options: .firesOnRecordUpdate)
    }
    await #expect(processExitsWith: .failure) {
      CKSubscription(zoneID: .default, options: []).zoneID = nil
    }
  }

  @Test("What a subscription's predicate cannot say is reported when it is lowered")
  func refusals() {
    for (format, reason) in [
      ("a == 1 OR b == 2", "OR is not supported"),
      ("a > now()", "now() is not supported in subscriptions"),
    ] {
      let error = #expect(throws: CKError.self) {
        try CKQuerySubscription(
          recordType: "A", predicate: NSPredicate(format: format), subscriptionID: "s"
        ).model()
      }
      #expect(error?.code == .invalidArguments)
      #expect(error?.localizedDescription.contains(reason) == true)
    }
  }

  @Test("A subscription that the server returned never stops the program, whatever it holds")
  func strangeModels() throws {
    for model in [
      Subscription(subscriptionID: "", kind: .database(recordType: "")),
      Subscription(
        subscriptionID: "",
        kind: .recordZone(ZoneID(zoneName: "", ownerName: ""), recordType: nil)),
      Subscription(
        subscriptionID: "",
        kind: .query(Query(recordType: ""), zoneID: ZoneID(zoneName: ""), options: [])),
    ] {
      let subscription = CKSubscription.subscription(model)
      #expect(subscription.subscriptionID == "")
      #expect((subscription.copy() as? CKSubscription)?.subscriptionID == "")
    }
    let record = CKRecord(
      Record(
        recordID: RecordID(recordName: ""), recordType: "",
        fields: [
          "a": .reference(CloudKitModel.Reference(recordName: ""))
        ]))
    #expect(record.recordID.recordName == "")
  }

  @Test("Options without an event stop the program")
  func noEvent() async {
    await #expect(processExitsWith: .failure) {
      _ = CKQuerySubscription(
        recordType: "A", predicate: NSPredicate(value: true), subscriptionID: "s",
        options: .firesOnce)
    }
  }

  @Test("An empty subscription ID stops the program")
  func emptyID() async {
    await #expect(processExitsWith: .failure) { _ = CKDatabaseSubscription(subscriptionID: "") }
  }
}
