import Foundation

/// A keyed archive that is built by hand in the layout of Apple's framework, as an XML property
/// list: objects by number, and the values at the top by key.
struct ArchiveFixture {
  private var objects = ["<string>$null</string>"]
  private var top: [(String, String)] = []

  private static func reference(_ index: Int) -> String {
    "<dict><key>CF$UID</key><integer>\(index)</integer></dict>"
  }

  private static func dictionary(_ members: [(String, String)]) -> String {
    let body = members.map { "<key>\($0.0)</key>\($0.1)" }.joined()
    return "<dict>\(body)</dict>"
  }

  /// The place of nil.
  static let null = reference(0)

  /// Adds an object and returns the reference to it.
  mutating func add(_ object: String) -> String {
    objects.append(object)
    return Self.reference(objects.count - 1)
  }

  mutating func add(string: String) -> String { add("<string>\(string)</string>") }

  mutating func add(date: TimeInterval) -> String {
    add(instanceOf: "NSDate", [("NS.time", "<real>\(date)</real>")])
  }

  mutating func add(instanceOf name: String, _ members: [(String, String)]) -> String {
    let names = "<array><string>\(name)</string><string>NSObject</string></array>"
    let description = Self.dictionary([
      ("$classes", names), ("$classname", "<string>\(name)</string>"),
    ])
    let type = add(description)
    return add(Self.dictionary(members + [("$class", type)]))
  }

  mutating func add(dictionary entries: [(String, String)]) -> String {
    let keys = entries.map { add(string: $0.0) }
    return add(
      instanceOf: "NSMutableDictionary",
      [
        ("NS.keys", "<array>\(keys.joined())</array>"),
        ("NS.objects", "<array>\(entries.map(\.1).joined())</array>"),
      ])
  }

  mutating func set(_ key: String, _ value: String) { top.append((key, value)) }

  var data: Data {
    let archive = Self.dictionary([
      ("$archiver", "<string>NSKeyedArchiver</string>"),
      ("$objects", "<array>\(objects.joined())</array>"),
      ("$top", Self.dictionary(top)), ("$version", "<integer>100000</integer>"),
    ])
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">"
    return Data("\(head)\(archive)</plist>".utf8)
  }
}

extension ArchiveFixture {
  mutating func addZoneID(_ zone: String, owner: String) -> String {
    let members = [
      ("ZoneName", add(string: zone)), ("ownerName", add(string: owner)),
      ("anonymousCKUserID", Self.null), ("databaseScopeKey", "<integer>0</integer>"),
    ]
    return add(instanceOf: "CKRecordZoneID", members)
  }

  mutating func addRecordID(_ name: String, zoneID: String) -> String {
    let members = [("RecordName", add(string: name)), ("ZoneID", zoneID)]
    return add(instanceOf: "CKRecordID", members)
  }

  mutating func add(list: [String], as name: String = "NSMutableArray") -> String {
    add(instanceOf: name, [("NS.objects", "<array>\(list.joined())</array>")])
  }

  mutating func addIdentity(
    _ user: String?, email: String?, given: String, family: String
  ) -> String {
    let zoneID = addZoneID("_defaultZone", owner: "__defaultOwner__")
    let lookup = [
      ("EmailAddress", email.map { add(string: $0) } ?? Self.null), ("PhoneNumber", Self.null),
      ("RecordID", Self.null), ("EncryptedPersonalInfo", Self.null), ("ReportsMissing", "<false/>"),
    ]
    let parts = add(
      instanceOf: "_NSPersonNameComponentsData",
      [("NS.givenName", add(string: given)), ("NS.familyName", add(string: family))])
    let members = [
      ("UserRecordID", user.map { addRecordID($0, zoneID: zoneID) } ?? Self.null),
      ("LookupInfo", add(instanceOf: "CKUserIdentityLookupInfo", lookup)),
      (
        "NameComponents",
        add(instanceOf: "NSPersonNameComponents", [("NS.nameComponentsPrivate", parts)])
      ),
      ("HasICloudAccount", "<true/>"), ("IsCached", "<false/>"),
      ("ContactIdentifiers", add(list: [], as: "NSArray")), ("ProtectionData", Self.null),
    ]
    return add(instanceOf: "CKUserIdentity", members)
  }

  mutating func addParticipant(
    _ participantID: String, identity: String, role: Int, permission: Int, status: Int,
    isCurrentUser: Bool
  ) -> String {
    let members = [
      ("ParticipantID", add(string: participantID)), ("UserIdentity", identity),
      ("Type", "<integer>\(role)</integer>"), ("OriginalParticipantType", "<integer>0</integer>"),
      ("Permission", "<integer>\(permission)</integer>"),
      ("AcceptanceStatus", "<integer>\(status)</integer>"),
      ("IsCurrentUser", isCurrentUser ? "<true/>" : "<false/>"), ("InvitationToken", Self.null),
      ("ProtectionInfo", add("<data>AexO</data>")), ("InviterID", Self.null),
    ]
    return add(instanceOf: "CKShareParticipant", members)
  }

  /// Adds a share of the caller with one guest.
  mutating func addShare() -> String {
    let anna = addIdentity(
      "__defaultOwner__", email: "anna@example.com", given: "Anna", family: "Berg")
    let ben = addIdentity("_ben", email: nil, given: "Ben", family: "Cho")
    let participants = [
      addParticipant(
        "p1", identity: anna, role: 1, permission: 3, status: 2, isCurrentUser: true),
      addParticipant(
        "p2", identity: ben, role: 3, permission: 2, status: 1, isCurrentUser: false),
    ]
    let zoneID = addZoneID("Notes", owner: "__defaultOwner__")
    let none = add(dictionary: [])
    let noKeys = add(instanceOf: "NSMutableSet", [("NS.objects", "<array></array>")])
    let values = add(dictionary: [("cloudkit.title", add(string: "Plans"))])
    let stores = [
      ("ValueStore", "CKRecordValueStore", values),
      ("EncryptedValueStore", "CKEncryptedRecordValueStore", none),
    ].map { key, name, values in
      let members = [("RecordValues", values), ("OriginalValues", none), ("ChangedKeys", noKeys)]
      return (key, add(instanceOf: name, members))
    }
    let url = [("NS.base", Self.null), ("NS.relative", add(string: "https://x.test/share/0abc"))]
    let members = [
      ("RecordType", add(string: "cloudkit.share")),
      ("RecordID", addRecordID("Share-1", zoneID: zoneID)), ("ETag", add(string: "mf1")),
      ("PublicPermission", "<integer>2</integer>"), ("Permission", "<integer>3</integer>"),
      ("Participants", add(list: participants)),
      ("LastFetchedParticipants", add(list: participants)),
      ("AddedParticipantIDs", noKeys), ("RemovedParticipantIDs", noKeys),
      ("RootRecordID", addRecordID("note-1", zoneID: zoneID)),
      ("URL", add(instanceOf: "NSURL", url)), ("AllowsAnonymousAccess", "<false/>"),
      ("ContainerID", addContainerID()), ("DisplayedHostname", add(string: "www.example.com")),
      ("KnownToServer", "<true/>"), ("ParentReference", Self.null), ("ShareReference", Self.null),
    ]
    return add(instanceOf: "CKShare", members + stores)
  }

  mutating func addContainerID() -> String {
    add(
      instanceOf: "CKContainerID",
      [
        ("ContainerIdentifier", add(string: "iCloud.com.example.notes")),
        ("Environment", "<integer>2</integer>"),
      ])
  }
}
