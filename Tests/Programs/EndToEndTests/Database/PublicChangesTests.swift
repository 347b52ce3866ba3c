import CloudKit
import CloudKitModel
import DatabaseAPI
import Testing

/// The public database's change feed, by Petrel's own calls.
struct PublicChangesTests {
  private typealias Changes = (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  )

  private func names(_ changes: Changes) -> Set<String> {
    Set(changes.modificationResultsByID.keys.map(\.recordName))
  }

  /// The token as an app finds it at its next launch.
  private func relaunched(_ token: CKServerChangeToken) throws -> CKServerChangeToken {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: token, requiringSecureCoding: true)
    return try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data))
  }

  @Test("A device that follows the public database learns of what another saves and deletes")
  func follow() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      let ben = try await cloud.container(of: "ben", device: "phone").publicCloudDatabase
      try await anna.modifyRecords(
        saving: (0..<7).map { CKRecord("Quake", "q\($0)", ["n": $0, "m": 1]) }, deleting: [])
      try await anna.add("Note", "note")
      var found: Set<String> = []
      var token: CKServerChangeToken?
      var pages = 0
      repeat {
        let page = try await ben.petrelPublicChanges(
          since: token, desiredKeys: ["n"], resultsLimit: 3)
        #expect(page.modificationResultsByID.count <= 3 && page.deletions.isEmpty)
        for result in page.modificationResultsByID.values {
          #expect(try result.get().record["m"] == nil)
        }
        found.formUnion(names(page))
        token = try relaunched(page.changeToken)
        pages += 1
        if !page.moreComing { break }
      } while true
      #expect(found == Set((0..<7).map { "q\($0)" } + ["note"]) && pages == 3)

      let changed = try await anna.record(for: CKRecord.ID(recordName: "q3"))
      changed["n"] = 33
      try await anna.save(changed)
      try await anna.deleteRecord(withID: CKRecord.ID(recordName: "q5"))
      let news = try await ben.petrelPublicChanges(since: token)
      #expect(names(news) == ["q3"] && !news.moreComing)
      let record = try news.modificationResultsByID[CKRecord.ID(recordName: "q3")]?.get().record
      #expect(record?["n"] as? Int == 33)
      #expect(news.deletions.map(\.recordID.recordName) == ["q5"])
      #expect(news.deletions.map(\.recordType) == ["Quake"])
      let nothing = try await ben.petrelPublicChanges(since: news.changeToken)
      #expect(names(nothing).isEmpty && nothing.deletions.isEmpty)
    }
  }

  @Test(
    "The operation goes through all pages of the types that are asked for, with a token for each")
  func operation() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      try await database.modifyRecords(
        saving: (0..<250).map { CKRecord($0.isMultiple(of: 2) ? "Quake" : "Note", "r\($0)") },
        deleting: [])
      let operation = PetrelFetchPublicChangesOperation(previousServerChangeToken: nil)
      operation.recordTypes = ["Quake"]
      operation.resultsLimit = 50
      let log = Log()
      let tokens = Log()
      operation.recordWasChangedBlock = { recordID, result in
        log.note("\(recordID.recordName) \((try? result.get())?.recordType ?? "")")
      }
      operation.changeTokenUpdatedBlock = { _ in tokens.note("token") }
      let token: CKServerChangeToken = try await withCheckedThrowingContinuation { continuation in
        operation.fetchPublicChangesResultBlock = { result in
          continuation.resume(with: result.map { $0.serverChangeToken })
        }
        database.add(operation)
      }
      #expect(log.notes == stride(from: 0, to: 250, by: 2).map { "r\($0) Quake" })
      #expect(tokens.notes.count > 2)
      let rest = try await database.petrelPublicChanges(since: token)
      #expect(names(rest).isEmpty && !rest.moreComing)
    }
  }

  @Test("A reader finds records that the grants let it read, and no other")
  func grants() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      let ben = try await cloud.container(of: "ben", device: "phone").publicCloudDatabase
      try await anna.add("Diary", "annas")
      try await anna.add("Note", "everybody's")
      let store = await cloud.store
      var schema = try await store.schemas.schema(of: Cloud.container, in: .development)
      schema.recordTypes["Diary"]?.grants = RecordGrants(["_creator": .read, "_icloud": .create])
      _ = try await store.schemas.importSchema(schema, of: Cloud.container, isDryRun: false)
      #expect(names(try await anna.petrelPublicChanges(since: nil)) == ["annas", "everybody's"])
      #expect(names(try await ben.petrelPublicChanges(since: nil)) == ["everybody's"])
    }
  }

  @Test("A token from before deletions that the server has forgotten gives changeTokenExpired")
  func expiredToken() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      try await database.add("Note", "a")
      try await database.add("Note", "b")
      let token = try await database.petrelPublicChanges(since: nil).changeToken
      try await database.deleteRecord(withID: CKRecord.ID(recordName: "a"))
      let store = await cloud.store
      try await store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 91 * 86_400))
      // By then the user's token has expired too.
      let user = try #require(try await store.accounts.user(named: "anna"))
      let later = await cloud.container(
        token: try await Account.makeToken(for: user, in: store.accounts, at: .now),
        device: "anna-phone"
      ).publicCloudDatabase
      let error = await #expect(throws: CKError.self) {
        try await later.petrelPublicChanges(since: token)
      }
      #expect(error?.code == .changeTokenExpired)
      let anew = try await later.petrelPublicChanges(since: nil)
      #expect(names(anew) == ["b"] && anew.deletions.isEmpty)
    }
  }

  @Test("Other databases are refused, as are negative limits and tokens of another feed")
  func refusals() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      func code(_ body: () async throws -> Void) async -> CKError.Code? {
        await #expect(throws: CKError.self) { try await body() }?.code
      }
      for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
        #expect(
          await code { _ = try await database.petrelPublicChanges(since: nil) } == .badDatabase)
      }
      let token = try await container.privateCloudDatabase.databaseChanges(since: nil).changeToken
      let database = container.publicCloudDatabase
      #expect(
        await code { _ = try await database.petrelPublicChanges(since: nil, resultsLimit: -1) }
          == .invalidArguments)
      #expect(
        await code { _ = try await database.petrelPublicChanges(since: token) }
          == .invalidArguments)
    }
  }
}
