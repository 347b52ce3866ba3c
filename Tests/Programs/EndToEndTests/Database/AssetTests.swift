import CloudKit
import Foundation
import Testing

struct AssetTests {
  @Test("A file of 1 MB and a list of files come back as they were saved, with progress")
  func roundTrip() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let large = try files.make(size: 1_000_000)
        let small = try (1...3).map { try files.make(size: $0) }
        let record = CKRecord(
          "Item", "A", ["photo": CKAsset(fileURL: large), "list": small.map(CKAsset.init)])
        let (saved, upload) = try await phone.saveWithProgress(record)
        #expect(saved.assetURL("photo") == large)
        upload.expectSteps(from: "A")

        let tablet = try await cloud.container(of: "anna", device: "tablet").privateCloudDatabase
        let (fetched, download) = try await tablet.fetchWithProgress("A")
        download.expectSteps(from: "A")
        let url = try #require(fetched.assetURL("photo"))
        #expect(url != large)
        #expect(try Data(contentsOf: url) == Data(contentsOf: large))
        let list = try #require(fetched["list"] as? [CKAsset])
        #expect(
          try list.map { try Data(contentsOf: #require($0.fileURL)) }
            == small.map { try Data(contentsOf: $0) })
      }
    }
  }

  @Test("A fetched file outlives its asset, and can be moved")
  func stagedFiles() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        try await phone.add("Item", "A", ["photo": CKAsset(fileURL: try files.make(size: 10))])
        let id = CKRecord.ID(recordName: "A")
        let kept = files.url("kept")
        var urls: [URL] = []
        do {
          let record = try await phone.record(for: id)
          let copy = try #require(record.copy() as? CKRecord)
          urls.append(try #require(copy.assetURL("photo")))
          let other = try await phone.record(for: id)
          urls.append(try #require(other.assetURL("photo")))
          #expect(urls.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
          try FileManager.default.moveItem(at: urls[1], to: kept)
        }
        #expect(try urls.prefix(1).map { try Data(contentsOf: $0).count } == [10])
        #expect(try Data(contentsOf: kept).count == 10)
      }
    }
  }

  @Test("The server's record of a conflict has its files, and the other results come all the same")
  func conflict() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let tablet = try await cloud.container(of: "anna", device: "tablet").privateCloudDatabase
        let mine = try await phone.save(CKRecord("Item", "A", ["n": 1]))
        let theirs = try await tablet.record(for: mine.recordID)
        theirs["photo"] = CKAsset(fileURL: try files.make(size: 10))
        theirs["list"] = try [3, 4].map { CKAsset(fileURL: try files.make(size: $0)) }
        try await tablet.save(theirs)
        mine["n"] = 2
        let other = CKRecord("Item", "B", ["n": 3])
        let results = try await phone.modifyRecords(
          saving: [mine, other], deleting: [], atomically: false
        ).saveResults
        #expect(throws: Never.self) { try results[other.recordID]?.get() }
        let error = #expect(throws: CKError.self) { try results[mine.recordID]?.get() }
        #expect(error?.code == .serverRecordChanged)
        let server = try #require(error?.serverRecord)
        #expect(try Data(contentsOf: #require(server.assetURL("photo"))).count == 10)
        let list = try #require(server["list"] as? [CKAsset])
        #expect(try list.map { try Data(contentsOf: #require($0.fileURL)).count } == [3, 4])
        // The record can be merged and saved with its files.
        server["n"] = 2
        try await phone.save(server)
        let merged = try await tablet.record(for: mine.recordID)
        #expect(try Data(contentsOf: #require(merged.assetURL("photo"))).count == 10)
      }
    }
  }

  @Test("Queries bring the files of their records; unwanted keys bring none")
  func queries() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
        for size in 1...3 {
          try await phone.add(
            "Item", "item-\(size)",
            ["n": size, "photo": CKAsset(fileURL: try files.make(size: size))])
        }
        try await phone.add("Item", "none", ["n": 9])
        let query = CKQuery(recordType: "Item", predicate: .all)
        query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
        // Whoever may read a record of the public database may read its files.
        let stranger = await cloud.container(token: nil, device: "web").publicCloudDatabase
        let records = try await stranger.records(matching: query).matchResults.map {
          try $0.1.get()
        }
        #expect(
          try records.map { try $0.assetURL("photo").map { try Data(contentsOf: $0).count } }
            == [1, 2, 3, nil])
        let bare = try await phone.records(matching: query, desiredKeys: ["n"]).matchResults.map {
          try $0.1.get()
        }
        #expect(bare.allSatisfy { $0["photo"] == nil } && bare.count == 4)
      }
    }
  }

  @Test("Zone changes bring the files of the changed records, in order with deletions")
  func zoneChanges() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let zone = try await phone.addZone("Notes")
        for size in [300_000, 7] {
          try await phone.add(
            "Item", "item-\(size)", ["photo": CKAsset(fileURL: try files.make(size: size))],
            zone: zone)
        }
        let changes = try await phone.recordZoneChanges(inZoneWith: zone, since: nil)
        let sizes = try changes.modificationResultsByID.map { id, result in
          let url = try #require(try result.get().record.assetURL("photo"))
          return (id.recordName, try Data(contentsOf: url).count)
        }
        #expect(
          Dictionary(uniqueKeysWithValues: sizes) == ["item-300000": 300_000, "item-7": 7])
        try await phone.add(
          "Item", "later", ["photo": CKAsset(fileURL: try files.make(size: 9))], zone: zone)
        try await phone.deleteRecord(
          withID: CKRecord.ID(recordName: "item-7", zoneID: zone))
        let next = try await phone.recordZoneChanges(inZoneWith: zone, since: changes.changeToken)
        #expect(next.deletions.map(\.recordID.recordName) == ["item-7"])
        #expect(next.modificationResultsByID.keys.map(\.recordName) == ["later"])
      }
    }
  }

  @available(*, deprecated)
  @Test("A file that is not there, or that changes meanwhile, fails its record")
  func filesThatFail() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let missing = CKRecord("Item", "missing", ["photo": CKAsset(fileURL: files.url("no"))])
        let folder = CKRecord("Item", "folder", ["photo": CKAsset(fileURL: files.folder)])
        let changing = try files.make(size: 400_000)
        let changed = CKRecord("Item", "changed", ["photo": CKAsset(fileURL: changing)])
        let good = CKRecord(
          "Item", "good", ["photo": CKAsset(fileURL: try files.make(size: 5))])
        let operation = CKModifyRecordsOperation(
          recordsToSave: [missing, folder, changed, good], recordIDsToDelete: nil)
        operation.isAtomic = false
        operation.perRecordProgressBlock = { record, _ in
          guard record.recordID.recordName == "changed" else { return }
          try? Data("other".utf8).write(to: changing)
        }
        let outcome = await phone.outcome(of: operation)
        #expect(outcome.errors["missing"]?.code == .assetFileNotFound)
        #expect(outcome.errors["folder"]?.code == .assetFileNotFound)
        #expect(outcome.errors["changed"]?.code == .assetFileModified)
        #expect(outcome.saved == ["good"])
        #expect(outcome.resultError == nil)
        #expect(outcome.completionError?.code == .partialFailure)
        #expect(outcome.errors["missing"]?.localizedDescription.contains("'photo'") == true)
      }
    }
  }

  @available(*, deprecated)
  @Test("In an atomic batch, one file that is not there fails all records")
  func atomic() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let zone = try await phone.addZone("Notes")
        let operation = CKModifyRecordsOperation(
          recordsToSave: [
            CKRecord("Item", "A", ["photo": CKAsset(fileURL: files.url("no"))], zone: zone),
            CKRecord("Item", "B", zone: zone),
          ])
        let outcome = await phone.outcome(of: operation)
        #expect(
          outcome.errors.mapValues(\.code) == ["A": .assetFileNotFound, "B": .batchRequestFailed])
        #expect(outcome.saved.isEmpty)
      }
    }
  }

  @Test("Saving a fetched record sends no file that it did not change")
  func unchangedAssets() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let first = try files.make(size: 100)
        try await phone.add("Item", "A", ["photo": CKAsset(fileURL: first), "n": 1])
        let record = try await phone.record(for: CKRecord.ID(recordName: "A"))
        record["n"] = 2
        let saved = try await phone.save(record)
        #expect(saved.assetURL("photo") == nil || saved["n"] as? Int == 2)
        let all = try await phone.record(for: CKRecord.ID(recordName: "A"))
        all["n"] = 3
        let everything = try await phone.modifyRecords(
          saving: [all], deleting: [], savePolicy: .allKeys)
        #expect(try everything.saveResults[all.recordID]?.get()["n"] as? Int == 3)
        // The asset of one record put into another is a file like any other.
        let copy = CKRecord("Item", "B", ["photo": try #require(all["photo"] as? CKAsset)])
        try await phone.save(copy)
        let second = try files.make(size: 200)
        all["photo"] = CKAsset(fileURL: second)
        _ = try await phone.modifyRecords(saving: [all], deleting: [], savePolicy: .changedKeys)
        let (sizes, copies) = (
          try await phone.record(for: all.recordID), try await phone.record(for: copy.recordID)
        )
        #expect(try Data(contentsOf: #require(sizes.assetURL("photo"))).count == 200)
        #expect(
          try Data(contentsOf: #require(copies.assetURL("photo"))) == Data(contentsOf: first))
      }
    }
  }

  @Test("A replaced file goes from the server's disk, those that records hold stay")
  func orphans() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let record = try await phone.add(
          "Item", "A", ["photo": CKAsset(fileURL: try files.make(size: 1000))])
        record["photo"] = CKAsset(fileURL: try files.make(size: 2000))
        try await phone.save(record)
        try await phone.add("Item", "B", ["photo": CKAsset(fileURL: try files.make(size: 3000))])
        #expect(try cloud.storedAssetSizes() == [1000, 2000, 3000])
        try await phone.deleteRecord(withID: CKRecord.ID(recordName: "B"))
        for hours in [26.0, 28.0] {
          try await cloud.store.maintenance.trim(at: .now.advanced(bySeconds: hours * 3600))
        }
        #expect(try cloud.storedAssetSizes() == [2000])
        let fetched = try await phone.record(for: record.recordID)
        #expect(try Data(contentsOf: #require(fetched.assetURL("photo"))).count == 2000)
      }
    }
  }

  @Test("A file over 50 MB is refused as a passed limit")
  func tooLarge() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let url = files.url("large")
        #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
        try FileHandle(forWritingTo: url).truncate(atOffset: 50_000_001)
        let error = await #expect(throws: CKError.self) {
          try await phone.add("Item", "A", ["photo": CKAsset(fileURL: url)])
        }
        #expect(error?.code == .limitExceeded)
      }
    }
  }

  @Test("An upload and a download that are cancelled end so, and leave nothing")
  func cancellation() async throws {
    try await withFiles { files in
      try await Cloud.run { cloud in
        let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        let large = try files.make(size: 20_000_000)
        let record = CKRecord("Item", "A", ["photo": CKAsset(fileURL: large)])
        let saving = CKModifyRecordsOperation(recordsToSave: [record])
        saving.perRecordProgressBlock = { [weak saving] _, _ in saving?.cancel() }
        let saveError = await phone.end(of: saving) { done in
          saving.modifyRecordsResultBlock = done
        }
        #expect(saveError?.code == .operationCancelled)
        try await phone.save(record)
        let fetching = CKFetchRecordsOperation(recordIDs: [record.recordID])
        fetching.perRecordProgressBlock = { [weak fetching] _, _ in fetching?.cancel() }
        let fetchError = await phone.end(of: fetching) { done in
          fetching.fetchRecordsResultBlock = done
        }
        #expect(fetchError?.code == .operationCancelled)
      }
    }
  }
}

/// A folder for a test's files.
struct AssetFixture {
  let folder: URL

  func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// A file of so many bytes, unlike all others.
  func make(size: Int) throws -> URL {
    let url = url(UUID().uuidString)
    var generator = SystemRandomNumberGenerator()
    var bytes = Data(capacity: size + 8)
    while bytes.count < size {
      withUnsafeBytes(of: generator.next() as UInt64) { bytes.append(contentsOf: $0) }
    }
    try bytes.prefix(size).write(to: url)
    return url
  }
}

func withFiles(_ body: (AssetFixture) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("petrel-asset-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(AssetFixture(folder: folder))
}

/// The fractions that a progress block got, by record names.
final class ProgressLog: @unchecked Sendable {
  private let lock = NSLock()
  private var steps: [(String, Double)] = []

  func note(_ name: String, _ fraction: Double) {
    lock.withLock { steps.append((name, fraction)) }
  }

  /// Expects steps that grow to 1: one on the way at least. Into how many pieces the system cuts a
  /// transfer depends on how busy it is.
  func expectSteps(
    from name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let fractions = lock.withLock { steps }.filter { $0.0 == name }.map(\.1)
    #expect(fractions.count >= 2, "\(fractions)", sourceLocation: sourceLocation)
    #expect(fractions == fractions.sorted(), sourceLocation: sourceLocation)
    #expect(fractions.last == 1, sourceLocation: sourceLocation)
    #expect(fractions.first ?? 0 > 0, sourceLocation: sourceLocation)
  }
}

extension CKRecord {
  func assetURL(_ key: String) -> URL? { (self[key] as? CKAsset)?.fileURL }
}

extension CKDatabase {
  func saveWithProgress(_ record: CKRecord) async throws -> (CKRecord, ProgressLog) {
    let log = ProgressLog()
    let operation = CKModifyRecordsOperation(recordsToSave: [record])
    operation.perRecordProgressBlock = { log.note($0.recordID.recordName, $1) }
    return try await withCheckedThrowingContinuation { continuation in
      operation.perRecordSaveBlock = { _, result in
        continuation.resume(with: result.map { ($0, log) })
      }
      add(operation)
    }
  }

  func fetchWithProgress(_ name: String) async throws -> (CKRecord, ProgressLog) {
    let log = ProgressLog()
    let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: name)])
    operation.perRecordProgressBlock = { log.note($0.recordName, $1) }
    return try await withCheckedThrowingContinuation { continuation in
      operation.perRecordResultBlock = { _, result in
        continuation.resume(with: result.map { ($0, log) })
      }
      add(operation)
    }
  }

  /// Runs an operation and answers the error that its result block got.
  func end(
    of operation: CKDatabaseOperation,
    _ setBlock: (@escaping (Result<Void, any Error>) -> Void) -> Void
  ) async -> CKError? {
    await withCheckedContinuation { continuation in
      setBlock { result in
        var failure: CKError?
        if case .failure(let error) = result { failure = error as? CKError }
        continuation.resume(returning: failure)
      }
      add(operation)
    }
  }
}

extension Cloud {
  /// The sizes of the files that the server keeps, in order.
  nonisolated func storedAssetSizes() throws -> [Int] {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    let name = try #require(names.first { $0.hasSuffix("-assets") })
    let folder = URL(fileURLWithPath: directory).appendingPathComponent(name)
    let files = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey])
    return try (files?.allObjects ?? []).compactMap { file in
      guard let url = file as? URL else { return nil }
      let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      return values.isRegularFile == true ? values.fileSize : nil
    }.sorted()
  }
}
