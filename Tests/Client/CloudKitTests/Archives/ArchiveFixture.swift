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
}
