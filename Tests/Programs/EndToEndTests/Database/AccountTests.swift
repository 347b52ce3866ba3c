import CloudKit
import CloudKitModel
import StoreModel
import Testing

@Suite(.serialized)
struct AccountTests {
  /// A user of whom something is known, and the container as the user's phone sees it.
  private func eva(in cloud: Cloud) async throws -> (User, CKContainer) {
    var names = PersonNameComponents()
    names.givenName = "Eva"
    names.familyName = "Berg"
    let user = try await cloud.addUser(
      named: "eva",
      profile: UserProfile(
        emailAddress: "eva@example.com", phoneNumber: "+4930123", nameComponents: names))
    return (user, try await cloud.container(of: "eva", device: "phone"))
  }

  @Test("The account is there with a token, and without one there is none")
  func status() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      #expect(try await anna.accountStatus() == .available)
      let recordID = try await anna.userRecordID()
      #expect(recordID.recordName.hasPrefix("_") && recordID.recordName.count == 33)
      #expect(recordID.zoneID == .default)
      let tablet = try await cloud.container(of: "anna", device: "tablet")
      #expect(try await tablet.userRecordID() == recordID)
      let nobody = await cloud.container(token: nil, device: "x")
      #expect(try await nobody.accountStatus() == .noAccount)
      let error = await #expect(throws: CKError.self) { try await nobody.userRecordID() }
      #expect(error?.code == .notAuthenticated)
    }
  }

  @Test("CKAccountChanged is posted when the token expires, and when it is good again")
  func accountChanged() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let posts = PostCounter()
      try await container.privateCloudDatabase.add("Item", "A")
      #expect(posts.count == 0)
      try await cloud.expireToken(of: "anna", inSeconds: -1)
      let error = await #expect(throws: CKError.self) {
        try await container.privateCloudDatabase.add("Item", "B")
      }
      #expect(error?.code == .notAuthenticated)
      #expect(try await container.accountStatus() == .noAccount)
      #expect(posts.count == 1)
      try await cloud.expireToken(of: "anna", inSeconds: 600)
      #expect(try await container.accountStatus() == .available)
      #expect(posts.count == 2)
    }
  }

  @Test("The user's record is fetched, changed and fetched again")
  func usersRecord() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let database = phone.publicCloudDatabase
      let recordID = try await phone.userRecordID()
      let record = try await database.record(for: recordID)
      #expect(record.recordType == CKRecord.SystemType.userRecord)
      record["city"] = "Berlin"
      try await database.save(record)
      let saved = try await database.record(for: recordID)
      #expect(saved["city"] as? String == "Berlin")
      saved["city"] = "Suva"
      try await database.save(saved)
      let ben = try await cloud.container(of: "ben", device: "phone").publicCloudDatabase
      #expect(try await ben.record(for: recordID)["city"] as? String == "Suva")
      let current = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
      let city: String? = await withCheckedContinuation { continuation in
        current.perRecordResultBlock = { _, result in
          continuation.resume(returning: (try? result.get())?["city"])
        }
        database.add(current)
      }
      #expect(city == "Suva")
    }
  }

  @Test("A user is discovered after permitting it")
  @available(*, deprecated)
  func discovery() async throws {
    try await Cloud.run { cloud in
      let (user, evas) = try await eva(in: cloud)
      let anna = try await cloud.container(of: "anna", device: "phone")
      #expect(try await anna.userIdentity(forEmailAddress: "eva@example.com") == nil)
      #expect(
        try await evas.applicationPermissionStatus(for: .userDiscoverability) == .initialState)
      #expect(
        try await evas.requestApplicationPermission(.userDiscoverability) == .granted)
      #expect(
        try await evas.applicationPermissionStatus(for: .userDiscoverability) == .granted)
      let identity = try #require(
        try await anna.userIdentity(forEmailAddress: "EVA@example.com"))
      #expect(identity.userRecordID?.recordName == user.userRecordName)
      #expect(identity.nameComponents?.familyName == "Berg")
      #expect(identity.lookupInfo?.emailAddress == "EVA@example.com")
      #expect(identity.lookupInfo?.phoneNumber == nil)
      #expect(try await anna.userIdentity(forPhoneNumber: "+49 30 123") == identity)
      let recordID = CKRecord.ID(recordName: user.userRecordName)
      #expect(
        try await anna.userIdentities(forUserRecordIDs: [recordID]) == [recordID: identity])
      #expect(try await anna.allUserIdentitiesFromContacts() == [identity])
      #expect(try await evas.allUserIdentitiesFromContacts().isEmpty)
      let participant = try await anna.shareParticipant(forEmailAddress: "eva@example.com")
      #expect(participant.userIdentity == identity)
      let (status, error) = await withCheckedContinuation { continuation in
        anna.status(forApplicationPermission: .userDiscoverability) {
          continuation.resume(returning: ($0, $1))
        }
      }
      #expect(status == .initialState && error == nil)
    }
  }

  @Test(
    "petrel users add writes down how a user is found and called",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  @available(*, deprecated)
  func program() async throws {
    try await Cloud.run { cloud in
      let arguments = ["users", "add", "eva", "--data", cloud.directory]
      let wrong = try Program("petrel", arguments + ["--email", "eva"], in: cloud.directory)
      #expect(try await wrong.end() != 0)
      #expect(wrong.output.contains("'eva' is not an e-mail address"))
      let program = try Program(
        "petrel",
        arguments + [
          "--email", "eva@example.com", "--phone", "+49 30 123", "--given-name", "Eva",
          "--family-name", "Berg", "--nickname", "E", "--name-prefix", "Dr.",
        ], in: cloud.directory)
      #expect(try await program.end() == 0)
      let token = program.output.trimmingCharacters(in: .whitespacesAndNewlines)
      let evas = await cloud.container(token: token, device: "phone")
      _ = try await evas.requestApplicationPermission(.userDiscoverability)
      let anna = try await cloud.container(of: "anna", device: "phone")
      let identity = try await anna.userIdentity(forPhoneNumber: "+4930123")
      var names = PersonNameComponents()
      names.givenName = "Eva"
      names.familyName = "Berg"
      names.nickname = "E"
      names.namePrefix = "Dr."
      #expect(identity?.nameComponents == names)
      let recordID = try await evas.userRecordID()
      #expect(identity?.userRecordID == recordID)
    }
  }

  @Test("Without an account, permissions and discovery fail with notAuthenticated")
  @available(*, deprecated)
  func nobody() async throws {
    try await Cloud.run { cloud in
      let nobody = await cloud.container(token: nil, device: "x")
      let permission = await #expect(throws: CKError.self) {
        try await nobody.requestApplicationPermission(.userDiscoverability)
      }
      #expect(permission?.code == .notAuthenticated)
      let discovery = await #expect(throws: CKError.self) {
        try await nobody.userIdentities(forEmailAddresses: ["eva@example.com"])
      }
      #expect(discovery?.code == .notAuthenticated)
    }
  }
}

/// Counts the notifications of the account's change. They bear no object; no other test of this
/// program has a token that expires while it is used.
private final class PostCounter: @unchecked Sendable {
  private let lock = NSLock()
  private var posts = 0
  private var observer: (any NSObjectProtocol)?

  init() {
    observer = NotificationCenter.default.addObserver(
      forName: .CKAccountChanged, object: nil, queue: nil
    ) { [weak self] _ in
      self?.lock.withLock { self?.posts += 1 }
    }
  }

  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  var count: Int { lock.withLock { posts } }
}
