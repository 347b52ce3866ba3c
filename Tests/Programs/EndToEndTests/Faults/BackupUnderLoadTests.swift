import CloudKit
import Synchronization
import Testing
import Waiting

/// Devices that save batches, each of which is to be kept whole or not at all.
private final class Writers: Sendable {
  static let count = 4
  static let records = 4
  static func zone(_ writer: Int) -> CKRecordZone.ID { CKRecordZone.ID(zoneName: "Zone\(writer)") }
  static func marker(_ writer: Int, _ batch: Int) -> String { "marker-\(writer)-\(batch)" }
  static func bytes(_ writer: Int, _ batch: Int) -> Data {
    Data("file of \(writer) in \(batch) ".utf8)
      + Data(repeating: UInt8(batch % 251), count: 200_000)
  }

  private struct State {
    /// The last batch that was answered, and the last that was sent, of each.
    var answered = [Int](repeating: -1, count: Writers.count)
    var sent = [Int](repeating: -1, count: Writers.count)
    var isOver = false
  }

  private let state = Mutex(State())
  let folder: String

  init(folder: String) {
    self.folder = folder
  }

  var answered: [Int] { state.withLock(\.answered) }
  var sent: [Int] { state.withLock(\.sent) }
  func end() { state.withLock { $0.isOver = true } }

  /// Saves batches until it is enough. Each changes the same records, and makes another one.
  func work(_ writer: Int, in database: CKDatabase) async throws {
    let zone = Self.zone(writer)
    var records = (0..<Self.records).map {
      CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "r\($0)", zoneID: zone))
    }
    var batch = 0
    while !state.withLock({ $0.isOver }) {
      state.withLock { $0.sent[writer] = batch }
      for record in records { record["batch"] = batch }
      if batch % 5 == 0 {
        let file = URL(fileURLWithPath: "\(folder)/\(writer)-\(batch)")
        try Self.bytes(writer, batch).write(to: file)
        records[0]["file"] = CKAsset(fileURL: file)
      }
      let marker = CKRecord(
        recordType: "Marker",
        recordID: CKRecord.ID(recordName: Self.marker(writer, batch), zoneID: zone))
      let results = try await database.modifyRecords(
        saving: records + [marker], deleting: [], savePolicy: .allKeys, atomically: true)
      records = try records.map { try #require(results.saveResults[$0.recordID]).get() }
      state.withLock { $0.answered[writer] = batch }
      batch += 1
    }
  }
}

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct BackupUnderLoadTests {
  private static func run(_ words: [String], in folder: String) async throws -> (Int32, String) {
    let program = try Program("petrel", words, in: folder)
    return (try await program.end(), program.output)
  }

  /// All that a writer's zone holds, however many pages that takes.
  private static func feed(of writer: Int, in database: CKDatabase) async -> FollowedFeed {
    await database.changes(
      by: CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [Writers.zone(writer)], configurationsByRecordZoneID: [:]))
  }

  @available(*, deprecated)
  @Test("restored, they have each batch whole or not at all, and what a server goes on with")
  func consistent() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let tablet = try await cloud.registeredContainer(of: "anna", device: "tablet")
      try await cloud.makeRoomForProgram()
      let program = try await cloud.startProgram()
      let database = phone.privateCloudDatabase
      for writer in 0..<Writers.count {
        try await database.save(CKRecordZone(zoneID: Writers.zone(writer)))
      }
      try await tablet.privateCloudDatabase.save(
        CKQuerySubscription(
          recordType: "Marker", predicate: NSPredicate(value: true), subscriptionID: "markers",
          options: .firesOnRecordCreation))
      let folder = cloud.directory
      let writers = Writers(folder: NSTemporaryDirectory() + "petrel-load-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        atPath: writers.folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: writers.folder) }
      let (before, after) = try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<Writers.count {
          group.addTask { try await writers.work(writer, in: database) }
        }
        defer { writers.end() }
        try await eventually("batches are saved", within: .seconds(120)) {
          writers.answered.allSatisfy { $0 >= 12 }
        }
        try await Self.checkKills(in: folder)
        let before = writers.answered
        let made = try await Self.run(["backup", "copy", "--data", folder], in: folder)
        #expect(made.0 == 0, "\(made.1)")
        let after = writers.sent
        try await eventually("more is saved", within: .seconds(120)) {
          zip(writers.answered, after).allSatisfy { $0 > $1 + 2 }
        }
        writers.end()
        try await group.waitForAll()
        return (before, after)
      }
      let token = try #require(await Self.feed(of: 0, in: database).results["Zone0"]?.token)
      program.signal(SIGTERM)
      #expect(try await program.end() == 0, "\(program.output)")

      let restored = try await Self.run(["restore", "copy", "--data", "new"], in: folder)
      #expect(restored.0 == 0, "\(restored.1)")
      try FileManager.default.copyItem(
        atPath: folder + "/server.json", toPath: folder + "/new/server.json")
      let next = try Program(
        "petrel", ["serve", "--data", folder + "/new", "--port", "\(await cloud.serverPort)"],
        in: folder)
      try await next.line(containing: "listens on")
      var markers: Set<String> = []
      for writer in 0..<Writers.count {
        let zone = Writers.zone(writer)
        let ids = (0..<Writers.records).map {
          CKRecord.ID(recordName: "r\($0)", zoneID: zone)
        }
        let records = try await database.records(for: ids).mapValues { try $0.get() }
        let batches = Set(records.values.compactMap { $0["batch"] as? Int })
        let batch = try #require(batches.first)
        #expect(batches.count == 1 && records.count == ids.count, "a part of a batch: \(batches)")
        #expect(batch >= before[writer], "\(batch) is older than what was answered before")
        #expect(batch <= after[writer])
        let file = try #require((records[ids[0]]?["file"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: file) == Writers.bytes(writer, batch / 5 * 5))
        let feed = await Self.feed(of: writer, in: database)
        let own = Set((0...batch).map { Writers.marker(writer, $0) })
        #expect(
          Set(feed.records.keys.map(\.recordName)) == own.union(ids.map(\.recordName)),
          "the markers of each batch")
        markers.formUnion(own)
      }
      // Each change that the copy has is notified of, and none that it has not.
      let log = try await tablet.awaitLog(markers.count)
      let notified = log.notifications.compactMap {
        ($0 as? CKQueryNotification)?.recordID?.recordName
      }
      #expect(Set(notified) == markers)
      #expect(notified.count == markers.count, "some stand in the log twice")
      // Who knows of more than the copy starts anew.
      let expired = await #expect(throws: CKError.self) {
        _ = try await database.recordZoneChanges(inZoneWith: Writers.zone(0), since: token)
      }
      #expect(expired?.code == .changeTokenExpired)
      try await database.add("Item", "later")
      next.signal(SIGTERM)
      #expect(try await next.end() == 0, "\(next.output)")
      try await Self.checkDamage(of: "copy", in: folder)
    }
  }

  /// A backup that is killed leaves nothing that passes for one, unless it was there already.
  private static func checkKills(in folder: String) async throws {
    let files = FileManager.default
    // What a backup makes, in this order. It is killed at once, and when each of these is there.
    let signs = ["killed.partial/petrel.sqlite", "killed.partial/petrel.sqlite-assets", "killed"]
    for sign in [nil, "killed.partial"] + signs {
      let program = try Program("petrel", ["backup", "killed", "--data", folder], in: folder)
      if let sign {
        try await eventually("\(sign) is there") {
          files.fileExists(atPath: folder + "/" + sign) || !program.isRunning
        }
      }
      program.signal(SIGKILL)
      let status = try await program.end()
      let isThere = files.fileExists(atPath: folder + "/killed")
      #expect(isThere || status != 0, "\(program.output)")
      let (restored, output) = try await run(
        ["restore", "killed", "--data", "of-killed"], in: folder)
      if isThere {
        #expect(restored == 0, "\(output)")
        for made in ["/killed", "/of-killed"] { try files.removeItem(atPath: folder + made) }
      } else {
        #expect(restored == 1 && output.contains("is not a backup"), "\(output)")
      }
    }
  }

  /// No backup with a file that was damaged or is missing is restored.
  private static func checkDamage(of copy: String, in folder: String) async throws {
    let assets = folder + "/\(copy)/petrel.sqlite-assets"
    let names = try FileManager.default.subpathsOfDirectory(atPath: assets).filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: assets + "/" + $0, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
    let asset = try #require(names.first)
    for (file, place) in [("petrel.sqlite-assets/\(asset)", 100_000), ("petrel.sqlite", 9_000)] {
      let path = folder + "/\(copy)/\(file)"
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      var damaged = whole
      damaged[place] ^= 16
      for contents in [damaged, whole.dropLast(5_000), nil] {
        try? FileManager.default.removeItem(atPath: path)
        try contents.map { try Data($0).write(to: URL(fileURLWithPath: path)) }
        let refused = try await run(["restore", copy, "--data", "again"], in: folder)
        #expect(refused.0 == 1, "\(file): \(refused.1)")
        #expect(
          !FileManager.default.fileExists(atPath: folder + "/again/petrel.sqlite"), "\(file)")
      }
      try? FileManager.default.removeItem(atPath: path)
      try whole.write(to: URL(fileURLWithPath: path))
    }
    #expect(try await run(["restore", copy, "--data", "again"], in: folder).0 == 0)
  }

  @Test("a damaged store is not served, not copied, and told by doctor, with what to do")
  func damaged() async throws {
    try await Cloud.run { cloud in
      let folder = cloud.directory
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await database.add("Item", "kept", ["n": 1])
      try await cloud.makeRoomForProgram()
      let file = try FileHandle(
        forUpdating: URL(fileURLWithPath: folder + "/petrel.sqlite"))
      try file.seek(toOffset: 5 * 4_096 + 77)
      let byte = try #require(try file.read(upToCount: 1)?.first)
      try file.seek(toOffset: 5 * 4_096 + 77)
      try file.write(contentsOf: Data([byte ^ 1]))
      try file.close()
      for words in [
        ["serve", "--port", "0"], ["backup", "copy"], ["doctor", "--offline"],
        ["users", "list"],
      ] {
        let (status, output) = try await Self.run(words + ["--data", folder], in: folder)
        // A command that has no use for the page does its work.
        if words[0] == "users", status == 0 { continue }
        #expect(status == 1, "\(words): \(output)")
        #expect(
          output.contains("page 6 in") && output.contains("does not match its checksum"),
          "\(words): \(output)")
        #expect(output.contains("restore"), "\(words): \(output)")
        #expect(!output.contains("listens"))
      }
      #expect(!FileManager.default.fileExists(atPath: folder + "/copy"))
    }
  }
}
