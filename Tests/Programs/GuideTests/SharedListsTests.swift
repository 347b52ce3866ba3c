import CloudKit
import PetrelTesting
import RepositoryFiles
import Synchronization
import Testing
import Waiting

@testable import SharedLists

/// The example SharedLists, as its users use it, in a cloud of the test's own.
struct SharedListsTests {
  @Test("Two users fill one list, and each sees what the other has done")
  func sharing() async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, ben) = (users.user("anna@example.com"), users.user("ben@example.com"))
    try await anna.run("create", "Groceries")
    try await anna.run("create", "Presents")
    try await anna.run("add", "Groceries", "Oat milk")
    let url = try await anna.run("share", "Groceries", "ben@example.com")
    #expect(
      try await anna.run("show") == """
        Groceries, shared with ben@example.com (invited)
          [ ] Oat milk
        Presents
        """)
    #expect(try await ben.run("show") == "no lists")

    try await ben.run("accept", url)
    try await ben.run("add", "Groceries", "Bread")
    try await ben.run("tick", "Groceries", "Oat milk")
    #expect(
      try await ben.run("show") == """
        Groceries, a list of another user
          [ ] Bread
          [x] Oat milk
        """)
    try await anna.run("remove", "Groceries", "Bread")
    let list = "Groceries, shared with ben@example.com\n  [x] Oat milk\nPresents"
    #expect(try await anna.run("show") == list)
    #expect(try await ben.run("show").contains("Bread") == false)

    try await ben.run("leave", "Groceries")
    #expect(try await ben.run("show") == "no lists")
    #expect(try await anna.run("show") == "Groceries\n  [x] Oat milk\nPresents")
  }

  @Test("The end of the sharing removes the list for the others, and the link returns with it")
  func end() async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, ben) = (users.user("anna@example.com"), users.user("ben@example.com"))
    try await anna.run("create", "Groceries")
    let url = try await anna.run("share", "Groceries", "ben@example.com")
    try await ben.run("accept", url)
    let refused = await #expect(throws: ListError.self) {
      try await ben.run("share", "Groceries", "cora@example.com")
    }
    #expect(refused?.text.hasSuffix("who alone can share it") == true)
    try await anna.run("stop", "Groceries")
    #expect(try await ben.run("show") == "no lists")
    #expect(try await anna.run("show") == "Groceries")
    #expect(try await anna.run("share", "Groceries", "ben@example.com") == url)
    #expect(try await ben.run("show") == "no lists")
    try await ben.run("accept", url)
    #expect(try await ben.run("show") == "Groceries, a list of another user")
  }

  @Test("Who is not invited cannot accept, and words that no command has are refused")
  func refusals() async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, cora) = (users.user("anna@example.com"), users.user("cora@example.com"))
    try await anna.run("create", "Groceries")
    // Ben has an account, so the link is not open to another account with an unknown address.
    _ = users.user("ben@example.com")
    let url = try await anna.run("share", "Groceries", "ben@example.com")
    let stranger = await #expect(throws: CKError.self) { try await cora.run("accept", url) }
    #expect(stranger?.code == .unknownItem)
    for (words, text) in [
      (["add", "Groceries"], ListCommands.usage), ([], ListCommands.usage),
      (["add", "Presents", "Book"], "there is no list 'Presents'"),
      (["tick", "Groceries", "Oat milk"], "'Groceries' has no item 'Oat milk'"),
      (["leave", "Groceries"], "'Groceries' is your own list"),
    ] {
      let error = await #expect(throws: ListError.self) { try await anna.run(words) }
      #expect(error?.text == text)
    }
    try await anna.run("create", "Groceries")
    let several = await #expect(throws: ListError.self) {
      try await anna.run("add", "Groceries", "Bread")
    }
    #expect(several?.text.hasPrefix("several lists are named 'Groceries'") == true)
  }

  @Test("An item that another user changes at the same time keeps that change when it is ticked")
  func conflict() async throws {
    let users = try await Users()
    defer { users.remove() }
    let anna = users.user("anna@example.com")
    try await anna.run("create", "Groceries")
    try await anna.run("add", "Groceries", "Milk")
    users.cloud.fail(next: .conflict(changing: { $0["text"] = "Oat milk" }))
    try await anna.run("tick", "Groceries", "Milk")
    #expect(try await anna.run("show") == "Groceries\n  [x] Oat milk")
  }

  @Test(
    "A copy that is too old is read again",
    arguments: [(TestOperation.fetchDatabaseChanges, 2), (.fetchRecordZoneChanges, 1)])
  func expiredToken(feed: TestOperation, feeds: Int) async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, ben) = (users.user("anna@example.com"), users.user("ben@example.com"))
    try await anna.run("create", "Groceries")
    try await ben.run("accept", try await anna.run("share", "Groceries", "ben@example.com"))
    try await anna.run("add", "Groceries", "Milk")
    let list = "Groceries, a list of another user\n  [ ] Milk"
    #expect(try await ben.run("show") == list)
    try await anna.run("remove", "Groceries", "Milk")
    try await anna.run("add", "Groceries", "Bread")
    users.cloud.fail(next: .changeTokenExpired, operation: feed, times: feeds)
    let later = "Groceries, a list of another user\n  [ ] Bread"
    #expect(try await ben.run("show") == later)
    #expect(users.cloud.waitingFaults == 0)
  }

  @Test("Who watches sees what the other one adds", arguments: [true, false])
  func watching(isOwner: Bool) async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, ben) = (users.user("anna@example.com"), users.user("ben@example.com"))
    try await anna.run("create", "Groceries")
    try await ben.run("accept", try await anna.run("share", "Groceries", "ben@example.com"))
    let (watcher, other) = isOwner ? (anna, ben) : (ben, anna)
    let sharing = isOwner ? "shared with ben@example.com" : "a list of another user"
    let output = Output()
    let watching = Task { try await watcher.commands(output).run(["watch"]) }
    try await eventually("the user watches") { output.text == "watching 1 lists" }
    try await other.run("add", "Groceries", "Bread")
    try await eventually("the bread is seen") {
      output.text.hasSuffix("Groceries, \(sharing)\n  [ ] Bread")
    }
    watching.cancel()
    try await watching.value
  }

  @Test("A notification of the shared database makes a participant fetch from that database")
  func participantIsNotified() async throws {
    let users = try await Users()
    defer { users.remove() }
    let (anna, ben) = (users.user("anna@example.com"), users.user("ben@example.com"))
    try await anna.run("create", "Groceries")
    try await ben.run("accept", try await anna.run("share", "Groceries", "ben@example.com"))
    let lists = try ListStore(
      container: users.cloud.container(user: "ben@example.com"),
      file: users.folder.appendingPathComponent("ben.json"))
    try await lists.subscribe()
    try await lists.refresh()
    try await anna.run("add", "Groceries", "Bread")
    try await lists.didReceiveRemoteNotification([
      "ck": ["ce": 2, "nid": "n", "met": ["dbs": 1, "sid": "all-lists", "fo": 4]]
    ])
    #expect(lists.all.first?.items.count == 0)
    try await lists.didReceiveRemoteNotification([
      "ck": ["ce": 2, "nid": "n", "met": ["dbs": 3, "sid": "all-lists", "fo": 4]]
    ])
    #expect(lists.all.first?.items.map(\.text) == ["Bread"])
    let shared = users.cloud.container(user: "ben@example.com").sharedCloudDatabase
    #expect(try await shared.allSubscriptions().map(\.subscriptionID) == ["all-lists"])
  }

  @Test("A user whose name is an e-mail address is invited by it, however it is written")
  func address() async throws {
    let cloud = try await TestCloud()
    let anna = cloud.container(user: "anna@example.com")
    let ben = cloud.container(user: "ben@example.com")
    let zoneID = CKRecordZone.ID(zoneName: "Lists")
    try await anna.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
    let share = CKShare(recordZoneID: zoneID)
    share.addParticipant(try await anna.shareParticipant(forEmailAddress: "Ben@Example.com"))
    let saved = try #require(try await anna.privateCloudDatabase.save(share) as? CKShare)
    let metadata = try await ben.shareMetadata(for: try #require(saved.url))
    #expect(metadata.participantStatus == .pending)
    try await ben.accept(metadata)
    #expect(try await ben.sharedCloudDatabase.allRecordZones().count == 1)
  }
}

/// The users of a cloud, with a folder for the program's files.
private struct Users {
  let cloud: TestCloud
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() async throws {
    cloud = try await TestCloud()
  }

  func user(_ address: String) -> User {
    User(container: cloud.container(user: address, registersForPushes: false), folder: folder)
  }

  func remove() {
    try? FileManager.default.removeItem(at: folder)
  }
}

/// A user of the program.
private struct User {
  let container: CKContainer
  let folder: URL

  func commands(_ output: Output) -> ListCommands {
    ListCommands(container: container, folder: folder, output: { output.add($0) })
  }

  /// Runs a command, and returns what it printed.
  @discardableResult
  func run(_ words: String...) async throws -> String {
    try await run(words)
  }

  @discardableResult
  func run(_ words: [String]) async throws -> String {
    let output = Output()
    try await commands(output).run(words)
    return output.text
  }
}

/// The lines that a command printed.
private final class Output: Sendable {
  private let lines = Mutex<[String]>([])

  var text: String { lines.withLock { $0.joined(separator: "\n") } }

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
  }
}
