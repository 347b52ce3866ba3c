import CloudKit
import CloudKitModel
import JSONCoding
import Storage
import StoreModel
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct UserDataCommandsTests {
  private static let usage: Int32 = 64
  private static let anna = "--database private --user anna"
  private static let checksum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  private static let record = #"""
    {"recordName":"MARK-a","recordType":"Note","zoneID":{"zoneName":"Work"},"fields":{
    "title":{"value":"MARK-title","type":"STRING"},"count":{"value":7,"type":"INT64"},
    "size":{"value":1.5,"type":"DOUBLE"},"when":{"value":1700000000000,"type":"TIMESTAMP"},
    "raw":{"value":"TUFSSw==","type":"BYTES"},
    "place":{"value":{"latitude":1.5,"longitude":2.5},"type":"LOCATION"},
    "parts":{"value":["MARK-x","y"],"type":"STRING_LIST"},
    "next":{"value":{"recordName":"MARK-b","action":"NONE"},"type":"REFERENCE"},
    "photo":{"value":{"fileChecksum":"\#(checksum)","size":5},"type":"ASSETID"}}}
    """#.replacing("\n", with: "")

  /// Gives anna private and public records, a file, subscriptions, a device and notifications.
  private static var preparation: AdminShell.Preparation {
    AdminShell.Preparation { cloud in
      let container = try await cloud.registeredContainer(of: "anna", device: "MARK-phone")
      try await container.publicCloudDatabase.save(CKRecord("Note", "shown", ["title": "by anna"]))
      let subscription = CKQuerySubscription(
        recordType: "Note", predicate: NSPredicate(format: "title != %@", "MARK-constant"),
        subscriptionID: "MARK-watch", options: [.firesOnRecordCreation])
      let info = CKSubscription.NotificationInfo()
      info.alertBody = "MARK-alert"
      subscription.notificationInfo = info
      try await container.publicCloudDatabase.save(subscription)
      let ben = try await cloud.container(of: "ben", device: "bens")
      try await ben.publicCloudDatabase.save(CKRecord("Note", "bens", ["title": "by ben"]))
      let anna = try #require(try await cloud.store.accounts.user(named: "anna"))
      try await eventually("anna is notified of what ben saved") {
        let page = try await cloud.store.notificationLog.notificationLog(
          of: Recipient(
            userRecordName: anna.userRecordName, container: Cloud.container,
            environment: .development), since: nil, limit: 10)
        return !page.notifications.isEmpty
      }
    }
  }

  private func fill(_ shell: AdminShell) async throws {
    let folder = shell.cloud.directory + "/files"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/" + Self.checksum))
    let imported = try await shell.inContainer(
      "records import - --make-zones \(Self.anna) --assets", [folder], input: Self.record + "\n")
    #expect(imported.status == 0, "\(imported.output)")
    try FileManager.default.removeItem(atPath: folder)
  }

  /// The files of the cloud's store that have a text in them.
  private func files(of shell: AdminShell, having text: String) throws -> Set<String> {
    let directory = shell.cloud.directory
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
    return Set(
      names.filter { name in
        name.hasPrefix("petrel.sqlite")
          && FileManager.default.contents(atPath: directory + "/" + name)?
            .range(of: Data(text.utf8)) != nil
      })
  }

  // MARK: Deleting

  @Test("a user is deleted with everything, and the name is free again", arguments: Way.allCases)
  func deletion(_ way: Way) async throws {
    try await AdminShell.run(way, after: Self.preparation) { shell in
      try await fill(shell)
      let name = try #require(
        try await shell.petrel("users show anna --json").json.first?["userRecordName"]?.string)
      #expect(try files(of: shell, having: "MARK-").isEmpty == false)
      #expect(try files(of: shell, having: name).isEmpty == false)
      var deleted = try await shell.petrel("users delete anna --public-records keep --yes")
      #expect(deleted.status == 0, "\(deleted.output)")
      if way == .onStore, deleted.output != "deleted anna\n" {
        // Its public records were changed, which subscribers are to be notified of.
        #expect(deleted.output.contains("has no access any more"), "\(deleted.output)")
        try await shell.cloud.startServer()
        try await eventually("the server goes on with the deletion") {
          try await shell.cloud.store.userDeletion.userDeletions().isEmpty
        }
        deleted.output = "deleted anna\n"
      }
      #expect(deleted.output == "deleted anna\n", "\(deleted.output)")
      #expect(try files(of: shell, having: "MARK-") == [])
      #expect(try files(of: shell, having: name) == [])
      let shown = try await shell.inContainer("records get shown --json")
      #expect(shown.output.contains(UserIdentity.deletedUserRecordName), "\(shown.output)")
      let again = try await shell.petrel("users add anna")
      #expect(again.status == 0, "\(again.output)")
      let list = try await shell.petrel("users list")
      #expect(!list.output.contains(name), "\(list.output)")
    }
  }

  @Test("public records of a deleted user go when it is said so")
  func publicRecords() async throws {
    try await AdminShell.run(.overHTTP, after: Self.preparation) { shell in
      let deleted = try await shell.petrel("users delete anna --public-records delete --yes --json")
      #expect(deleted.json.first?["isWhole"] == true, "\(deleted.output)")
      let left = try await shell.inContainer("records export").json
      #expect(left.map { $0["recordName"]?.string } == ["bens"])
    }
  }

  @Test("a deletion needs its choice, and a yes where nobody can be asked", arguments: Way.allCases)
  func mistakes(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      for (words, status, text) in [
        ("users delete", Self.usage, "needs one NAME"),
        ("users delete anna --yes", Self.usage, "needs --public-records keep or"),
        ("users delete anna --yes --public-records no", Self.usage, "must be keep or delete"),
        ("users delete anna --public-records keep", Self.usage, "needs --yes, because"),
        ("users delete zoe --public-records keep --yes", 1, "no user named 'zoe' (NOT_FOUND)"),
      ] {
        let outcome = try await shell.petrel(words)
        #expect(outcome.status == status, "\(words): \(outcome.output)")
        #expect(outcome.output.contains(text), "\(words): \(outcome.output)")
      }
      let names = try await shell.petrel("users list --json").json.first?["users"]?.array
      #expect(names?.map { $0["name"] } == ["anna", "ben"])
    }
  }

  @Test(
    "a server that is killed after each step of a deletion comes to its end",
    arguments: [
      "afterDeletionStep:1", "afterCommit:3", "beforeCommit:4",
    ])
  func killed(_ point: String) async throws {
    try await AdminShell.run(.onStore, after: Self.preparation) { shell in
      try await fill(shell)
      let location = StoreLocation.file(path: shell.cloud.directory + "/petrel.sqlite")
      func deletions() async throws -> [UserDeletion] {
        let store = try await Store.open(
          at: location, configuration: StoreConfiguration(role: .tool))
        let deletions = try await store.userDeletion.userDeletions()
        await store.close()
        return deletions
      }
      let first = try await AdminShell.run(
        ["users", "delete", "anna", "--public-records", "delete", "--yes"]
          + ["--data", shell.cloud.directory],
        environment: ["KILL_POINT": point], in: shell.cloud)
      #expect(first.status == SIGKILL, "\(first.output)")
      var kills = 1
      var stages: Set<UserDeletion.Stage> = []
      while let deletion = try await deletions().first, kills < 100 {
        stages.insert(deletion.stage)
        let server = try Program(
          "petrel", ["serve", "--data", shell.cloud.directory, "--port", "0"],
          environment: ["KILL_POINT": point], in: shell.cloud.directory)
        try await eventually("the server is killed, or has deleted the user: \(server.output)") {
          if !server.isRunning { return true }
          return try await deletions().isEmpty
        }
        if !server.isRunning { kills += 1 }
        try await server.kill()
      }
      #expect(try await deletions().isEmpty)
      if point == "afterDeletionStep:1" {
        // The first was the command's.
        #expect(stages == Set(UserDeletion.Stage.allCases.dropFirst()), "\(stages)")
      }
      #expect(kills > 3)
      #expect(try files(of: shell, having: "MARK-") == [])
    }
  }

  // MARK: Exporting

  /// The lines of a file of an export, all of which must be JSON.
  private func lines(_ path: String) throws -> [JSONValue] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try JSONValue(parsing: String($0))
    }
  }

  @Test(
    "all that is a user's is exported as files, whole, without secrets", arguments: Way.allCases)
  func export(_ way: Way) async throws {
    try await AdminShell.run(way, after: Self.preparation) { shell in
      try await fill(shell)
      _ = try await shell.petrel("users password anna", input: "correct horse\n")
      let folder = shell.cloud.directory + "/anna"
      let outcome = try await shell.petrel("users export anna --to", [folder])
      #expect(outcome.status == 0, "\(outcome.output)")
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
      let place = Cloud.container + "/development"
      let files = names.filter { $0.hasSuffix(".json") || $0.hasSuffix(".jsonl") }
      #expect(
        Set(files) == [
          "account.json", "devices.jsonl", place + "/notifications.jsonl",
          place + "/private/zones.json", place + "/private/records.jsonl",
          place + "/private/subscriptions.jsonl", place + "/public/records.jsonl",
          place + "/public/subscriptions.jsonl",
        ], "\(names)")
      for file in files {
        #expect(
          try lines(folder + "/" + file).isEmpty == file.contains("private/subscr"), "\(file)")
      }
      let account = try #require(try lines(folder + "/account.json").first)
      #expect(account["name"] == "anna" && account["passwordChanged"] != nil)
      #expect(account["tokens"]?.array?.count == 1)

      let record = try #require(try lines(folder + "/\(place)/private/records.jsonl").first)
      let given = try JSONValue(parsing: Self.record)
      #expect(record["recordName"] == given["recordName"])
      #expect(record["zoneID"] == given["zoneID"])
      for (name, field) in given["fields"]?.object ?? [:] where name != "photo" {
        #expect(record["fields"]?[name] == field, "\(name)")
      }
      #expect(record["fields"]?["photo"]?["value"]?["fileChecksum"]?.string == Self.checksum)
      #expect(
        FileManager.default.contents(atPath: folder + "/assets/" + Self.checksum)
          == Data("hello".utf8))

      let shown = try lines(folder + "/\(place)/public/records.jsonl")
      #expect(shown.map { $0["recordName"]?.string } == ["shown"])
      let subscription = try lines(folder + "/\(place)/public/subscriptions.jsonl").first
      #expect(subscription?["subscriptionID"] == "MARK-watch")
      let notifications = try lines(folder + "/\(place)/notifications.jsonl")
      #expect(notifications.contains { $0.text.contains("MARK-watch") })
      let token = Cloud.deviceTokenText(of: "anna", device: "MARK-phone")
      let device = try #require(try lines(folder + "/devices.jsonl").first)
      #expect(device["kind"] == "apns" && device["deviceID"]?.string != nil)
      for name in files {
        let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        #expect(!text.contains(token), "\(name)")
        #expect(!text.contains("argon2"), "\(name)")
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: shell.cloud.directory)
          .filter { $0.contains(".part-") } == [])
    }
  }

  @Test("an export is made in a folder of its own, or not at all", arguments: Way.allCases)
  func refusals(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let folder = shell.cloud.directory + "/taken"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/mine"))
      let taken = try await shell.petrel("users export anna --to", [folder])
      #expect(taken.status == Self.usage && taken.output.contains("is not an empty folder"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["mine"])
      try FileManager.default.removeItem(atPath: folder + "/mine")
      #expect(try await shell.petrel("users export anna --to", [folder]).status == 0)
      let nobody = shell.cloud.directory + "/nobody"
      let unknown = try await shell.petrel("users export zoe --to", [nobody])
      #expect(unknown.status == 1 && unknown.output.contains("no user named 'zoe'"))
      #expect(!FileManager.default.fileExists(atPath: nobody))
      #expect(try await shell.petrel("users export anna").status == Self.usage)
      let left = try FileManager.default.contentsOfDirectory(atPath: shell.cloud.directory)
      #expect(left.filter { $0.contains(".part-") } == [])
    }
  }
}
