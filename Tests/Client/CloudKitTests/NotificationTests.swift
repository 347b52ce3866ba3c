import CloudKit
import Testing

struct NotificationTests {
  private static let user = "_0123456789abcdef0123456789abcdef"

  /// A payload as an app gets it: decoded by Foundation.
  private func payload(_ json: String) throws -> [AnyHashable: Any] {
    let text = json.replacingOccurrences(of: "USER", with: Self.user)
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(object as? [String: Any])
  }

  @available(*, deprecated)
  @Test("A query push on the public database is read whole")
  func query() throws {
    let payload = try payload(
      """
      { "aps": { "alert": { "title": "Art", "subtitle": "s", "body": "New artwork" }, "badge": 3,
                 "sound": "default", "category": "ART", "content-available": 1 },
        "ck": { "ce": 2, "cid": "iCloud.com.example.app", "ckuserid": "USER", "nid": "0b6c2f0e",
                "aux": {},
                "qry": { "sid": "new-art", "dbs": 2, "fo": 1, "rid": "ART-1",
                         "zid": "_defaultZone", "zoid": "_defaultOwner",
                         "af": { "title": "Mona", "year": 1503, "price": 2.5,
                                 "place": { "latitude": 1, "longitude": -2 },
                                 "artist": { "recordName": "a", "zoneName": "Z",
                                             "ownerName": "_o" }, "none": null } } } }
      """)
    let notification = try #require(CKNotification(fromRemoteNotificationDictionary: payload))
    #expect(notification.notificationType == .query)
    #expect(notification.notificationID?.identifier == "0b6c2f0e")
    #expect(notification.containerIdentifier == "iCloud.com.example.app")
    #expect(notification.subscriptionOwnerUserRecordID?.recordName == Self.user)
    #expect(notification.subscriptionID == "new-art")
    #expect(!notification.isPruned)
    #expect(notification.title == "Art")
    #expect(notification.subtitle == "s")
    #expect(notification.alertBody == "New artwork")
    #expect(notification.badge == 3)
    #expect(notification.soundName == "default")
    #expect(notification.category == "ART")
    let query = try #require(notification as? CKQueryNotification)
    #expect(query.queryNotificationReason == .recordCreated)
    #expect(query.databaseScope == .public)
    #expect(query.isPublicDatabase)
    #expect(query.recordID == CKRecord.ID(recordName: "ART-1"))
    #expect(query.recordFields?["title"] as? String == "Mona")
    #expect(query.recordFields?["year"] as? Int == 1503)
    #expect(query.recordFields?["price"] as? Double == 2.5)
    #expect((query.recordFields?["place"] as? CLLocation)?.coordinate.longitude == -2)
    #expect(
      (query.recordFields?["artist"] as? CKRecord.Reference)?.recordID
        == CKRecord.ID(
          recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: "_o")))
    #expect(query.recordFields?.count == 5)
    #expect(CKQueryNotification(fromRemoteNotificationDictionary: payload) != nil)
    #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: payload) == nil)
  }

  @available(*, deprecated)
  @Test("A silent query push on the private database names the user's own zone")
  func privateQuery() throws {
    let payload = try payload(
      """
      { "aps": { "alert": "body only", "badge": 180, "sound": "default" },
        "ck": { "ce": 2, "cid": "c", "ckuserid": "USER", "nid": "n",
                "qry": { "sid": "s", "dbs": 1, "fo": 3, "rid": "r", "zid": "Notes",
                         "zoid": "USER" } } }
      """)
    let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: payload))
    #expect(query.databaseScope == .private)
    #expect(query.queryNotificationReason == .recordDeleted)
    #expect(query.alertBody == "body only")
    #expect(query.badge == 180)
    #expect(query.recordFields == nil)
    #expect(
      query.recordID
        == CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Notes")))
  }

  @available(*, deprecated)
  @Test("A record-zone push is read")
  func recordZone() throws {
    let payload = try payload(
      """
      { "aps": { "content-available": 1 },
        "ck": { "ce": 2, "cid": "c", "ckuserid": "USER", "nid": "n", "aux": {},
                "fet": { "sid": "notes-zone", "dbs": 3, "zid": "Notes", "zoid": "_other" } } }
      """)
    let notification = CKNotification(fromRemoteNotificationDictionary: payload)
    let zone = try #require(notification as? CKRecordZoneNotification)
    #expect(zone.notificationType == .recordZone)
    #expect(zone.databaseScope == .shared)
    #expect(zone.recordZoneID == CKRecordZone.ID(zoneName: "Notes", ownerName: "_other"))
    #expect(zone.subscriptionID == "notes-zone")
    #expect(zone.alertBody == nil)
  }

  @Test("A database push is read, also without a zone and without an aps part")
  func database() throws {
    for zone in [#", "zid": "Thoughts", "zoid": "USER""#, ""] {
      let payload = try payload(
        """
        { "ck": { "ce": 2, "cid": "c", "ckuserid": "USER", "nid": "n",
                  "met": { "sid": "private-changes", "dbs": 1\(zone) } } }
        """)
      let notification = CKNotification(fromRemoteNotificationDictionary: payload)
      let database = try #require(notification as? CKDatabaseNotification)
      #expect(database.notificationType == .database)
      #expect(database.notificationType.rawValue == 4)
      #expect(database.databaseScope == .private)
      #expect(database.subscriptionID == "private-changes")
    }
  }

  @Test(
    "The texts of an alert come from the app's strings, and from the payload where there are none")
  func localized() throws {
    let folder = URL(
      fileURLWithPath: NSTemporaryDirectory() + "petrel-strings-" + UUID().uuidString)
    let table = folder.appendingPathComponent("de.lproj")
    try FileManager.default.createDirectory(at: table, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("\"NEW_%@_%@\" = \"%2$@ neu in %1$@\"; SUB = Unten; OPEN = Auf;".utf8)
      .write(to: table.appendingPathComponent("Localizable.strings"))
    let strings = try PetrelStrings(contentsOf: folder, languages: ["de-AT"])
    func alert(_ aps: String) throws -> PetrelAlert? {
      let payload = try payload(#"{ "aps": \#(aps), "ck": { "nid": "n", "met": {} } }"#)
      return CKNotification(fromRemoteNotificationDictionary: payload)?.petrelAlert(from: strings)
    }
    #expect(
      try alert(
        """
        { "alert": { "title": "T", "subtitle-loc-key": "SUB", "loc-key": "NEW_%@_%@",
          "loc-args": ["Notizen", "Milch"], "action-loc-key": "OPEN" } }
        """)
        == PetrelAlert(title: "T", subtitle: "Unten", body: "Milch neu in Notizen", action: "Auf"))
    #expect(try alert(#"{ "alert": "B" }"#) == PetrelAlert(body: "B"))
    #expect(
      try alert(
        #"{ "alert": { "title-loc-key": "OTHER", "loc-key": "OTHER", "body": "B" } }"#)
        == PetrelAlert(body: "B"))
    #expect(try alert("{}") == PetrelAlert())
  }

  @Test("A payload without CloudKit's part is no notification")
  func foreign() throws {
    #expect(CKNotification(fromRemoteNotificationDictionary: [:]) == nil)
    let payload = try payload(#"{ "aps": { "alert": "x" }, "ck": 5 }"#)
    #expect(CKNotification(fromRemoteNotificationDictionary: payload) == nil)
  }

  @Test(
    "A payload with nothing but its IDs has type 0 and no class of a kind, as on Apple's systems",
    arguments: [false, true])
  func bare(isPruned: Bool) throws {
    let payload = try payload(
      #"{ "ck": { "ce": 2, "cid": "c", "nid": "n"\#(isPruned ? #", "p": 1"# : "") } }"#)
    let notification = try #require(CKNotification(fromRemoteNotificationDictionary: payload))
    #expect(type(of: notification) == CKNotification.self)
    #expect(notification.notificationType.rawValue == 0)
    #expect(notification.isPruned == isPruned)
    #expect(notification.notificationID?.identifier == "n")
    #expect(notification.containerIdentifier == "c")
    #expect(notification.subscriptionID == nil)
    #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: payload) == nil)
  }

  @Test("A subscription ID beside the part of the kind is none, as on Apple's systems")
  func misplacedSubscriptionID() throws {
    let payload = try payload(#"{ "ck": { "nid": "n", "sid": "s", "fet": { "dbs": 2 } } }"#)
    let notification = try #require(CKNotification(fromRemoteNotificationDictionary: payload))
    #expect(notification.subscriptionID == nil)
    #expect(notification.notificationType == .recordZone)
  }

  @Test("A pruned query push keeps what is there")
  func pruned() throws {
    let payload = try payload(
      #"{ "ck": { "nid": "n", "p": true, "qry": { "sid": "s", "dbs": 2 } } }"#)
    let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: payload))
    #expect(query.isPruned)
    #expect(query.recordID == nil)
    #expect(query.queryNotificationReason.rawValue == 0)
    #expect(query.containerIdentifier == nil)
  }

  @Test(
    "A reason and a database that the payload does not name are unknown, and only a default takes them"
  )
  func undisclosed() throws {
    for kind in ["qry", "fet", "met"] {
      let payload = try payload(#"{ "ck": { "nid": "n", "p": 1, "\#(kind)": { "sid": "s" } } }"#)
      let notification = try #require(CKNotification(fromRemoteNotificationDictionary: payload))
      let scope: CKDatabase.Scope? =
        switch notification {
        case let query as CKQueryNotification: query.databaseScope
        case let zone as CKRecordZoneNotification: zone.databaseScope
        default: (notification as? CKDatabaseNotification)?.databaseScope
        }
      #expect(scope?.rawValue == 0, "\(kind)")
      #expect(scope.map { ![.public, .private, .shared].contains($0) } == true, "\(kind)")
      #expect(notification.description.contains("unknown database"), "\(kind)")
      guard let query = notification as? CKQueryNotification else { continue }
      #expect(query.description.contains("unknown,"))
      switch query.queryNotificationReason {
      case .recordCreated, .recordUpdated, .recordDeleted: Issue.record("a known reason")
      @unknown default: break
      }
    }
  }

  @available(*, deprecated)
  @Test("Numbers as text, unknown numbers and old places of the alert's parts are understood")
  func oddities() throws {
    let payload = try payload(
      """
      { "aps": { "alert": { "body": "b", "badge": "7", "sound": "ping", "category": "C",
                            "loc-key": "k", "loc-args": ["a", 5], "title-loc-key": "tk",
                            "title-loc-args": ["t"], "subtitle-loc-key": "sk",
                            "subtitle-loc-args": ["s"], "action-loc-key": "ak",
                            "launch-image": "i" } },
        "ck": { "new": 1, "qry": { "sid": "s", "dbs": "2", "fo": "9" } } }
      """)
    let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: payload))
    #expect(query.databaseScope == .public)
    #expect(query.queryNotificationReason.rawValue == 9)
    #expect(query.badge == 7)
    #expect(query.soundName == "ping")
    #expect(query.category == "C")
    #expect(query.alertLocalizationKey == "k")
    #expect(query.alertLocalizationArgs == ["a", "5"])
    #expect(query.titleLocalizationKey == "tk")
    #expect(query.titleLocalizationArgs == ["t"])
    #expect(query.subtitleLocalizationKey == "sk")
    #expect(query.subtitleLocalizationArgs == ["s"])
    #expect(query.alertActionLocalizationKey == "ak")
    #expect(query.alertLaunchImage == "i")
  }

  @Test("A payload may be made of any kind of dictionary")
  func dictionaries() {
    let inner: [AnyHashable: Any] = ["sid": "s", "dbs": 1, "zid": "Z", "zoid": "_o"]
    let payloads: [[AnyHashable: Any]] = [
      ["ck": ["fet": inner] as [AnyHashable: Any]],
      ["ck": ["fet": ["sid": "s", "dbs": NSNumber(value: 1), "zid": "Z", "zoid": "_o"]]],
      ["ck": NSDictionary(dictionary: ["fet": inner])],
    ]
    for payload in payloads {
      let notification = CKNotification(fromRemoteNotificationDictionary: payload)
      #expect((notification as? CKRecordZoneNotification)?.recordZoneID?.zoneName == "Z")
    }
  }

  @available(*, deprecated)
  @Test("Desired values are what a record would give, from JSON and from Swift's own values alike")
  func recordFields() throws {
    let parsed = try payload(
      """
      { "ck": { "ckuserid": "USER", "nid": "n",
          "qry": { "sid": "s", "dbs": 1, "fo": 2, "rid": "r", "zid": "Notes", "zoid": "USER",
            "af": { "int": 7, "large": 9223372036854775807, "double": 0.5, "yes": true, "no": false,
                    "date": 1700000000.25, "text": "t", "list": ["a", 2],
                    "place": { "latitude": 1.5, "longitude": -2 },
                    "own": { "recordName": "a", "zoneName": "Notes", "ownerName": "USER" },
                    "other": { "recordName": "b", "zoneName": "Z", "ownerName": "_o" },
                    "bare": { "recordName": "c" }, "odd": { "x": 1 }, "none": null } } } }
      """)
    let fields: [String: Any] = [
      "int": 7, "large": Int64.max, "double": 0.5, "yes": true, "no": false,
      "date": 1_700_000_000.25, "text": "t" as NSString, "list": ["a", 2] as [Any],
      "place": ["latitude": 1.5, "longitude": -2],
      "own": ["recordName": "a", "zoneName": "Notes", "ownerName": Self.user],
      "other": ["recordName": "b", "zoneName": "Z", "ownerName": "_o"] as NSDictionary,
      "bare": ["recordName": "c"], "odd": ["x": 1], "none": NSNull(),
    ]
    let query: [String: Any] = [
      "sid": "s", "dbs": 1, "fo": 2, "rid": "r", "zid": "Notes", "zoid": Self.user, "af": fields,
    ]
    let made: [AnyHashable: Any] = [
      "ck": ["ckuserid": Self.user, "nid": "n", "qry": query] as [String: Any]
    ]
    for payload in [parsed, made] {
      let notification = try #require(
        CKQueryNotification(fromRemoteNotificationDictionary: payload))
      #expect(notification.databaseScope == .private)
      #expect(notification.queryNotificationReason == .recordUpdated)
      let values = try #require(notification.recordFields)
      #expect(values["int"] as? Int == 7)
      #expect(values["int"] as? Int64 == 7)
      #expect(values["int"] as? Double == 7)
      #expect((values["int"] as? NSNumber)?.stringValue == "7")
      #expect(values["large"] as? Int64 == .max)
      #expect(values["double"] as? Double == 0.5)
      #expect(values["yes"] as? Bool == true && values["no"] as? Bool == false)
      #expect(
        (values["date"] as? TimeInterval).map(Date.init(timeIntervalSince1970:))
          == Date(timeIntervalSince1970: 1_700_000_000.25))
      #expect(values["text"] as? String == "t")
      #expect(values["text"] as? NSString == "t")
      #expect((values["list"] as? [Any])?.count == 2)
      let place = try #require(values["place"] as? CLLocation)
      #expect(place.coordinate.latitude == 1.5 && place.coordinate.longitude == -2)
      let notes = CKRecordZone.ID(zoneName: "Notes")
      let own = try #require(values["own"] as? CKRecord.Reference)
      #expect(own.recordID == CKRecord.ID(recordName: "a", zoneID: notes))
      #expect(own.action == .none)
      #expect(
        (values["other"] as? CKRecord.Reference)?.recordID.zoneID
          == CKRecordZone.ID(zoneName: "Z", ownerName: "_o"))
      #expect(
        (values["bare"] as? CKRecord.Reference)?.recordID == CKRecord.ID(recordName: "c"))
      #expect(values["odd"] == nil && values["none"] == nil)
      #expect(values.count == 12)
    }
  }

  @Test("References with an empty name are no values, and stop no app")
  func emptyNames() throws {
    let payload = try payload(
      """
      { "ck": { "cid": "iCloud.com.example.app", "nid": "n",
                "qry": { "sid": "s", "dbs": 1, "fo": 1, "rid": "r", "zid": "z", "zoid": "_o",
                         "af": { "a": { "recordName": "" }, "b": { "recordName": "r", "zoneName": "" },
                                 "c": { "recordName": "r", "ownerName": "" },
                                 "d": { "recordName": "r" } } } } }
      """)
    let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: payload))
    #expect(query.recordFields?.keys.sorted() == ["d"])
  }

  @Test("Each class reads payloads of its own kind only, and CKNotification all of them")
  func factories() {
    let kinds: [(String, CKNotification.NotificationType)] = [
      ("qry", .query), ("fet", .recordZone), ("met", .database),
    ]
    for (key, type) in kinds {
      let payload: [String: NSObject] = [
        "ck": ["nid": "n", key: ["sid": "s", "dbs": 2]] as NSDictionary
      ]
      let notification = CKNotification(fromRemoteNotificationDictionary: payload)
      #expect(notification?.notificationType == type)
      #expect(notification?.subscriptionID == "s")
      let query = CKQueryNotification(fromRemoteNotificationDictionary: payload)
      let zone = CKRecordZoneNotification(fromRemoteNotificationDictionary: payload)
      let database = CKDatabaseNotification(fromRemoteNotificationDictionary: payload)
      #expect((query != nil) == (type == .query))
      #expect((zone != nil) == (type == .recordZone))
      #expect((database != nil) == (type == .database))
      let scopes = [query?.databaseScope, zone?.databaseScope, database?.databaseScope]
      #expect(scopes.compactMap { $0 } == [.public])
      #expect(query?.recordFields == nil && query?.recordID == nil)
      #expect(zone?.recordZoneID == nil)
    }
  }

  @available(*, deprecated)
  @Test("What a payload does not say is nil")
  func absent() throws {
    let payload = try payload(
      #"{ "aps": { "alert": { "title-loc-key": "T" } }, "ck": { "met": {} } }"#)
    let notification = try #require(CKNotification(fromRemoteNotificationDictionary: payload))
    #expect(notification.titleLocalizationKey == "T")
    let texts: [String?] = [
      notification.alertBody, notification.alertLocalizationKey,
      notification.alertActionLocalizationKey, notification.alertLaunchImage, notification.title,
      notification.subtitle, notification.subtitleLocalizationKey, notification.soundName,
      notification.category, notification.containerIdentifier, notification.subscriptionID,
    ]
    #expect(texts.allSatisfy { $0 == nil })
    let arguments: [[String]?] = [
      notification.alertLocalizationArgs, notification.titleLocalizationArgs,
      notification.subtitleLocalizationArgs,
    ]
    #expect(arguments.allSatisfy { $0 == nil })
    let badge: NSNumber? = notification.badge
    #expect(badge == nil)
    #expect(notification.notificationID == nil)
    #expect(notification.subscriptionOwnerUserRecordID == nil)
    #expect(!notification.isPruned)
  }

  @Test("The description of each kind says what happened")
  func descriptions() throws {
    let owner = CKCurrentUserDefaultName
    for (json, description) in [
      (
        #"{"ck": {"nid": "1", "qry": {"sid": "s", "dbs": 2, "fo": 3, "rid": "r", "zid": "Z", "zoid": "_defaultOwner"}}}"#,
        "<CKQueryNotification: 1, subscription s, recordDeleted r, zone Z:\(owner), public database>"
      ),
      (
        #"{"ck": {"nid": "2", "p": 1, "qry": {"sid": "s", "dbs": 1, "fo": 1, "af": {"b": 1, "a": 2}}}}"#,
        #"<CKQueryNotification: 2, subscription s, recordCreated, private database, fields ["a", "b"], pruned>"#
      ),
      (
        #"{"ck": {"nid": "3", "fet": {"sid": "s", "dbs": 1, "zid": "Z", "zoid": "_o"}}}"#,
        "<CKRecordZoneNotification: 3, subscription s, zone Z:_o, private database>"
      ),
      (
        #"{"ck": {"met": {"dbs": 3}}}"#,
        "<CKDatabaseNotification: no ID, subscription unknown, shared database>"
      ),
    ] {
      let notification = CKNotification(fromRemoteNotificationDictionary: try payload(json))
      #expect(notification?.description == description)
    }
    let scopes: [CKDatabase.Scope] = [.public, .private, .shared]
    #expect(scopes.map { $0.caseName } == ["public", "private", "shared"])
  }

  @Test("Raw values are Apple's")
  func rawValues() {
    #expect(CKNotification.NotificationType.query.rawValue == 1)
    #expect(CKNotification.NotificationType.recordZone.rawValue == 2)
    #expect(CKNotification.NotificationType.readNotification.rawValue == 3)
    #expect(CKNotification.NotificationType.database.rawValue == 4)
    #expect(CKQueryNotification.Reason(rawValue: 1) == .recordCreated)
    #expect(CKQueryNotification.Reason(rawValue: 2) == .recordUpdated)
    #expect(CKQueryNotification.Reason(rawValue: 3) == .recordDeleted)
  }

  @Test("Notification IDs are equal by value and go through a secure archive")
  func identifiers() throws {
    let id = CKNotificationID("n")
    #expect(id == CKNotificationID("n"))
    #expect(id != CKNotificationID("m"))
    #expect(try archivedAndBack(id) == id)
    let read = CKNotification.readNotification(id: id, containerIdentifier: "c")
    #expect(read.notificationType == .readNotification)
    #expect(read.notificationID == id)
    #expect(read.subscriptionID == nil)
  }

  @available(*, deprecated)
  @Test("The names from before Swift 4.2 still mean the same")
  func oldNames() {
    #expect(CKQueryNotificationReason.recordCreated == CKQueryNotification.Reason.recordCreated)
    #expect(CKRecordID(recordName: "a") == CKRecord.ID(recordName: "a"))
    #expect(CKReferenceAction.none.rawValue == 0)
  }
}
