import CloudKitModel
import Configuration
import Cryptography
import Foundation
import PushChannels
import Settings
import StoreTools
import Testing

@testable import Storage
@testable import petrel

/// Tests of the doctor's findings for states that a test cannot put a machine into.
struct DoctorJudgementTests {
  private func marks(_ findings: [Finding]) -> [Finding.Mark] { findings.map(\.mark) }

  @Test("a PostgreSQL as it should be, and what may be wrong with one")
  func postgreSQL() {
    var good = PostgreSQLExamination()
    good.version = 150_004
    good.encoding = "UTF8"
    good.connectionLimit = 97
    good.schemaVersion = StoreExamination.newestVersion
    func marks(_ change: (inout PostgreSQLExamination) -> Void) -> [Finding.Mark] {
      var found = good
      change(&found)
      return PostgreSQLCheck.judge(found, at: "postgres://h/d").map(\.mark).filter { $0 != .ok }
    }
    #expect(marks { _ in } == [])
    #expect(marks { $0.version = 120_009 } == [.problem])
    #expect(marks { $0.encoding = "SQL_ASCII" } == [.problem])
    #expect(marks { $0.isStandby = true } == [.problem])
    #expect(marks { $0.schemaVersion = StoreExamination.newestVersion + 1 } == [.problem])
    #expect(marks { $0.schemaVersion = nil } == [])
    #expect(marks { $0.unsafeSettings = ["fsync", "full_page_writes"] } == [.warning, .warning])
    #expect(marks { $0.hasChecksums = false } == [.warning])
    #expect(marks { $0.restoration = "the store is a copy" } == [.problem])
    #expect(marks { $0.usedConnections = 92 } == [.warning])
    #expect(
      marks {
        $0.usedConnections = 94
        $0.isServed = true
      } == [])
  }

  @Test("the folder of a shared store's assets is that of its other servers, or one is told")
  func assetFolder() {
    var store = PostgreSQLExamination()
    func finding(_ identity: AssetFolderIdentity) -> Finding {
      AssetFolderCheck.judge(
        identity, of: "/assets", for: store)
    }
    for identity in [AssetFolderIdentity.missing, .known("theirs")] {
      #expect(finding(identity).mark == .ok)
    }
    store.assetFolder = "ours"
    #expect(finding(.known("ours")).mark == .ok)
    #expect(finding(.known("theirs")).mark == .warning)
    #expect(finding(.missing).mark == .warning)
    #expect(finding(.unreadable("/assets cannot be read")).mark == .problem)
    store.hasAssets = true
    #expect(finding(.known("ours")).mark == .ok)
    #expect(finding(.known("theirs")).mark == .problem)
    #expect(finding(.known("theirs")).text.contains("another store"))
    #expect(finding(.missing).mark == .problem)
    #expect(finding(.missing).advice?.contains("the line ours into /assets/store-identity") == true)
  }

  @Test(
    "devices that the configuration has no way to are a warning for each setting that is missing")
  func devices() throws {
    let census = DeviceCensus(groups: [
      .init(kind: .apns, container: "iCloud.a", count: 1),
      .init(kind: .apns, container: "iCloud.b", count: DeviceCensus.limit),
      .init(kind: .webPush, container: "iCloud.a", count: 2),
      .init(kind: .webhook, container: "iCloud.a", count: 3),
    ])
    var configuration = ServerConfiguration(dataDirectory: "/d")
    #expect(marks(DevicesCheck.judge(DeviceCensus(groups: []), for: configuration)) == [.ok])
    #expect(
      DevicesCheck.judge(census, for: configuration).map { String($0.text.prefix(44)) } == [
        "iCloud.a has 1 APNs device, but containers.i",
        "iCloud.b has at least 100000 APNs devices, b",
        "iCloud.a has 2 browsers, but webPush is not ",
        "iCloud.a has 3 webhooks, but webhooks is not",
      ])
    let apns = APNsSettings(
      topics: ["t"], credential: .key(file: "k", keyID: "k", teamID: "t"))
    let channels = ChannelSettings { $0.apns = apns }
    configuration.containers = ["iCloud.a": .init(channels: channels), "iCloud.b": .init()]
    configuration.channels.webPush = .init(subject: "mailto:a@example.com")
    configuration.channels.webhooks = .init()
    let left = DevicesCheck.judge(census, for: configuration)
    #expect(marks(left) == [.warning])
    #expect(left[0].text.contains("iCloud.b") && left[0].advice?.contains(".apns") == true)
    configuration.containers["iCloud.b"] = .init(channels: channels)
    #expect(marks(DevicesCheck.judge(census, for: configuration)) == [.ok])
  }

  @Test(
    "devices of an app that is no topic, and tokens that APNs refuses, are a warning that says why")
  func topics() throws {
    var configuration = ServerConfiguration(dataDirectory: "/d")
    let apns = APNsSettings(
      topics: ["app", "app.mac"], credential: .key(file: "k", keyID: "k", teamID: "t"))
    configuration.containers = ["iCloud.a": .init(channels: ChannelSettings { $0.apns = apns })]
    let census = DeviceCensus(groups: [
      .init(kind: .apns, container: "iCloud.a", count: 4),
      .init(kind: .apns, container: "iCloud.a", refusedTopic: "app", count: 2),
      .init(kind: .apns, container: "iCloud.a", refusedTopic: "app.old", count: 2),
      .init(kind: .apns, container: "iCloud.a", bundleID: "app.mac", count: 3),
      .init(kind: .apns, container: "iCloud.a", bundleID: "app.watch", count: 1),
    ])
    let findings = DevicesCheck.judge(census, for: configuration)
    #expect(marks(findings) == [.warning, .warning])
    #expect(
      findings.map(\.text) == [
        "iCloud.a has 2 APNs devices whose tokens APNs refuses for the topic 'app' "
          + "(DeviceTokenNotForTopic), because they belong to an app with another bundle ID: nothing is "
          + "pushed to them",
        "iCloud.a has 1 APNs device of the app 'app.watch', but it is not one of the topics of "
          + "containers.iCloud.a.apns: notifications are logged but not pushed to them",
      ])
    #expect(
      findings.allSatisfy { $0.advice?.contains("'topics' of containers.iCloud.a.apns") == true })
  }

  @Test("how long a server is taken for alive is told in seconds")
  func aliveText() {
    #expect(AdminCommand.aliveText(ofSeconds: 4.96) == "5.0 s")
    #expect(AdminCommand.aliveText(ofSeconds: 0.34) == "0.3 s")
    #expect(AdminCommand.aliveText(ofSeconds: -0.2) == "overdue")
  }

  @Test(
    "room on the disk",
    arguments: [
      (UInt64(63) << 20, Finding.Mark.problem), (UInt64(64) << 20, .warning),
      (UInt64(1_023) << 20, .warning), (UInt64(1) << 30, .ok),
    ])
  func room(free: UInt64, expected: Finding.Mark) {
    let space = DiskCheck.Space(freeBytes: free, freeFiles: nil, kind: 0xEF53)
    #expect(marks(DiskCheck.judge(space, of: "/d")) == [expected])
  }

  @Test(
    "files that can still be made",
    arguments: [(UInt64(99), Finding.Mark.problem), (100, .warning), (9_999, .warning)])
  func files(free: UInt64, expected: Finding.Mark) {
    let space = DiskCheck.Space(freeBytes: 1 << 40, freeFiles: free, kind: 0xEF53)
    #expect(marks(DiskCheck.judge(space, of: "/d")) == [.ok, expected])
  }

  @Test(
    "kinds of file system",
    arguments: [
      (UInt32(0x6969), Finding.Mark.problem), (0xFF53_4D42, .problem), (0xFE53_4D42, .problem),
      (0x0102_1997, .problem), (0x0102_1994, .warning), (0x794C_7630, .warning),
      (0x6573_5546, .warning),
    ])
  func kinds(kind: UInt32, expected: Finding.Mark) {
    let space = DiskCheck.Space(freeBytes: 1 << 40, freeFiles: 1 << 20, kind: kind)
    #expect(marks(DiskCheck.judge(space, of: "/d")) == [.ok, expected])
  }

  @Test(
    "how far the clock is off",
    arguments: [
      (0.0, 600.0, Finding.Mark.ok), (-4.9, 600, .ok), (6, 600, .warning), (-299, 600, .warning),
      (300, 600, .problem), (-3_600, 600, .problem), (31, 60, .problem), (400, 3_600, .problem),
    ])
  func clock(lead: Double, window: Double, expected: Finding.Mark) {
    let findings = ClockCheck.judge([.init(source: "x", lead: lead)], signatureWindow: window)
    #expect(marks(findings) == [expected])
    #expect(findings[0].text.contains(lead < 0 ? "behind" : "ahead") || expected == .ok)
  }

  @Test("a clock that nothing keeps is a warning, one of which nothing is known is not")
  func keeping() {
    #expect(ClockCheck.judge(isKept: true).mark == .ok)
    #expect(ClockCheck.judge(isKept: false).mark == .warning)
    #expect(ClockCheck.judge(isKept: nil).mark == .ok)
  }

  @Test("a date in an answer is compared with the time at which it came")
  func samples() {
    let samples = ClockSamples()
    let time = Timestamp(milliseconds: 784_111_777_000)
    samples.note("Sun, 06 Nov 1994 08:49:37 GMT", from: "a", at: time.advanced(bySeconds: 10.5))
    samples.note("yesterday", from: "b", at: time)
    samples.note(nil, from: "c", at: time)
    #expect(samples.all == [.init(source: "a", lead: 10)])
  }

  @Test("descriptors are counted against the connections that a server takes")
  func descriptors() {
    #expect(LimitsCheck.judge(descriptors: 1_024).mark == .warning)
    #expect(LimitsCheck.judge(descriptors: 1_024).text.contains("768"))
    #expect(LimitsCheck.judge(descriptors: 16_639).mark == .warning)
    #expect(LimitsCheck.judge(descriptors: 16_640).mark == .ok)
  }

  @Test(
    "the time of a certificate",
    arguments: [
      (-1.0, Finding.Mark.problem), (0.5, .warning), (29.5, .warning), (30.5, .ok),
    ])
  func certificates(days: Double, expected: Finding.Mark) {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let certificate = CertificateSummary(
      commonName: "n", start: now.addingTimeInterval(-864_000),
      end: now.addingTimeInterval(days * 86_400))
    let finding = Finding.validity(
      of: certificate, "it", at: Timestamp(milliseconds: 1_800_000_000_000), renewal: "renew it")
    #expect(finding.mark == expected)
    #expect((finding.advice == nil) == (expected == .ok))
  }

  @Test("the schema versions of a store, and how much of it was seen")
  func store() {
    var found = StoreExamination()
    found.bytes = 5 << 20
    func judge() -> [Finding] { DatabaseCheck.judge(found, path: "/s", isDeep: false) }
    #expect(marks(judge()) == [.problem, .ok])
    found.schemaVersion = StoreExamination.oldestVersion - 1
    #expect(marks(judge()) == [.problem, .ok])
    found.schemaVersion = StoreExamination.newestVersion + 1
    #expect(marks(judge()) == [.problem, .ok])
    found.schemaVersion = StoreExamination.newestVersion
    found.isComplete = false
    #expect(judge()[1].text.contains("--deep"))
    found.logBytes = 4 << 30
    #expect(marks(judge()) == [.ok, .ok, .warning])
    found.faults = ["a", "b"]
    #expect(marks(judge()) == [.problem, .problem])
  }
}
