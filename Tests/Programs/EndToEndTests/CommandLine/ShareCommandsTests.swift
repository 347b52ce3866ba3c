import CloudKit
import JSONCoding
import StoreModel
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct ShareCommandsTests {
  /// The exit status of mistakes in the words, after which nothing was done.
  private static let usage: Int32 = 64

  /// The options that name the zone of Anna's share.
  private static let place = "--owner anna --zone Notes"

  /// Anna shares a list with an item with Kim, who accepts, and with an address.
  private static func share(_ cloud: Cloud) async throws {
    let anna = try await cloud.container(of: "anna", device: "phone")
    let profile = try UserProfile(
      emailAddress: "kim@example.com", phoneNumber: nil, nameComponents: nil)
    try await cloud.addUser(named: "kim", profile: profile)
    let kim = try await cloud.container(of: "kim", device: "phone")
    let database = anna.privateCloudDatabase
    let zone = CKRecordZone(zoneName: "Notes")
    try await database.save(zone)
    let list = CKRecord(
      recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
    let item = CKRecord(
      recordType: "Item", recordID: CKRecord.ID(recordName: "item", zoneID: zone.zoneID))
    item.setParent(list)
    let share = CKShare(
      rootRecord: list, shareID: CKRecord.ID(recordName: "food", zoneID: zone.zoneID))
    share[CKShare.SystemFieldKey.title] = "Food"
    let identities = [
      CKUserIdentity.LookupInfo(emailAddress: "kim@example.com"),
      CKUserIdentity.LookupInfo(emailAddress: "eve@example.com"),
    ]
    for identity in identities {
      let participant = try await anna.shareParticipants(for: [identity])
        .values.first?.get()
      share.addParticipant(try #require(participant))
    }
    let (saved, _) = try await database.modifyRecords(saving: [list, share, item], deleting: [])
    let url = try #require((try saved[share.recordID]?.get() as? CKShare)?.url)
    let metadata = try await kim.shareMetadata(for: url)
    _ = try await kim.accept(metadata)
  }

  @Test("shares are listed and shown", arguments: Way.allCases)
  func shown(_ way: Way) async throws {
    try await AdminShell.run(way, after: .init(Self.share)) { shell in
      let list = try await shell.inContainer("shares list --participant kim")
      #expect(list.status == 0, "\(list.output)")
      let rows = list.output.split(separator: "\n").map { $0.split(separator: " ") }
      #expect(rows.map(\.first) == ["SHARE", "food"], "\(list.output)")
      #expect(rows.last == ["food", "anna", "Notes", "list", "NONE", "1", "1"], "\(list.output)")
      let json = try await shell.inContainer("shares list --owner anna --json")
      #expect(json.json.first?["shares"]?.array?.map { $0["share"] } == ["food"], "\(json.output)")
      let none = try await shell.inContainer("shares list --owner ben")
      #expect(none.output == "no shares were found\n", "\(none.output)")

      let shown = try await shell.inContainer("shares show food \(Self.place)")
      #expect(shown.status == 0, "\(shown.output)")
      for text in ["anna", "Notes", "list", "2 records", "/share/", "ignored"] {
        #expect(shown.output.contains(text), "\(shown.output)")
      }
      let participants = shown.output.split(separator: "\n").map { $0.split(separator: " ") }
      for row in [
        ["anna", "OWNER", "READ_WRITE", "ACCEPTED"],
        ["kim", "USER", "READ_ONLY", "ACCEPTED"],
        ["eve@example.com", "USER", "READ_ONLY", "INVITED"],
      ] {
        #expect(
          participants.contains { $0.prefix(4).map(String.init) == row }, "\(row) \(shown.output)")
      }
      let whole = try await shell.inContainer("shares show food \(Self.place) --json")
      #expect(whole.json.first?["participants"]?.array?.count == 3, "\(whole.output)")
    }
  }

  @Test(
    "participants are removed, links are replaced, and shares end", arguments: Way.allCases)
  func changes(_ way: Way) async throws {
    try await AdminShell.run(way, after: .init(Self.share)) { shell in
      let before = try await shell.inContainer("shares show food \(Self.place) --json")
      let old = try #require(before.json.first?["link"]?.string, "\(before.output)")
      let renewed = try await shell.inContainer("shares new-link food \(Self.place)")
      #expect(renewed.status == 0, "\(renewed.output)")
      let link = String(renewed.output.dropLast())
      #expect(link.contains("/share/") && link != old, "\(renewed.output)")
      let withdrawn = try await shell.inContainer(
        "shares remove food eve@example.com \(Self.place)")
      #expect(withdrawn.output == "removed eve@example.com from food\n", "\(withdrawn.output)")
      let removed = try await shell.inContainer("shares remove food kim \(Self.place) --json")
      #expect(removed.json.first?["participants"]?.array?.count == 1, "\(removed.output)")
      let ended = try await shell.inContainer("shares end food \(Self.place)")
      #expect(ended.status == 0 && ended.output == "ended food\n", "\(ended.output)")
      let none = try await shell.inContainer("shares list")
      #expect(none.output == "no shares were found\n", "\(none.output)")

      if way == .onStore { try await shell.cloud.startServer() }
      let kim = try await shell.cloud.container(of: "kim", device: "phone")
      #expect(try await kim.sharedCloudDatabase.allRecordZones() == [])
      let anna = try await shell.cloud.container(of: "anna", device: "phone")
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      let list = try await anna.privateCloudDatabase.record(
        for: CKRecord.ID(recordName: "list", zoneID: zoneID))
      #expect(list.share == nil)
    }
  }

  @Test("a share or a participant that is not there is named", arguments: Way.allCases)
  func mistakes(_ way: Way) async throws {
    try await AdminShell.run(way, after: .init(Self.share)) { shell in
      for (words, status, text) in [
        ("shares show nothing \(Self.place)", 1, "there is no share 'nothing'"),
        ("shares show list \(Self.place)", 1, "there is no share 'list' in zone 'Notes'"),
        ("shares end food --owner anna --zone Other", 1, "there is no share 'food'"),
        ("shares end food --owner zoe --zone Notes", 1, "is not the name of an account: 'zoe'"),
        ("shares remove food zoe \(Self.place)", 1, "has no participant 'zoe'"),
        ("shares remove food anna \(Self.place)", 1, "the owner of share 'food"),
        ("shares remove food \(Self.place)", Self.usage, "needs a SHARE and a PARTICIPANT"),
        ("shares show \(Self.place)", Self.usage, "needs one SHARE"),
        ("shares show food --zone Notes", Self.usage, "needs --owner USER"),
        ("shares new-link food --owner anna", Self.usage, "needs --zone NAME"),
        ("shares list anna", Self.usage, "takes only options"),
      ] {
        let outcome = try await shell.inContainer(words)
        #expect(outcome.status == status, "\(words): \(outcome.output)")
        #expect(outcome.output.contains(text), "\(words): \(outcome.output)")
      }
      let left = try await shell.inContainer("shares show food \(Self.place) --json")
      #expect(left.json.first?["participants"]?.array?.count == 3, "\(left.output)")
    }
  }
}
