import APNsSimulation
import CloudKit
import RepositoryFiles
import Testing
import Waiting

struct ProgramTests {
  @Test(
    "A server that is killed right after each reply loses no push, and repeats one with its apns-id",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func killed() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      // Silent ones would become one where they wait for the next process.
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
      try await cloud.makeRoomForProgram()
      let arguments = ["serve", "--data", cloud.directory, "--port", "\(await cloud.serverPort)"]
      for round in 0..<5 {
        let server = try Program("petrel", arguments, in: cloud.directory)
        do {
          try await eventually("the server listens") { server.output.contains("listens on") }
          try await laptop.privateCloudDatabase.modifyRecords(
            saving: (0..<20).map { CKRecord("Item", "item-\(round)-\($0)") }, deleting: [])
        } catch {
          Issue.record("round \(round): \(error); the server printed: \(server.output)")
        }
        try await server.kill()
      }
      try await cloud.startServer()
      let expected = Set((0..<5).flatMap { round in (0..<20).map { "item-\(round)-\($0)" } })
      let simulator = await cloud.simulator
      let pushes = try await cloud.settledPushes()
      #expect(Set(pushes.compactMap(\.recordName)) == expected)
      let token = Cloud.deviceTokenText(of: "anna", device: "phone")
      let attempts = simulator.received.filter { $0.deviceToken == token }
      let identifiers = Dictionary(grouping: attempts) { $0.recordName ?? "" }
        .mapValues { Set($0.compactMap { $0.headers["apns-id"] }) }
      #expect(expected.allSatisfy { identifiers[$0]?.count == 1 })
    }
  }

  @Test(
    "Passwords are read from standard input, and kept by their hashes",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func passwords() async throws {
    try await Cloud.run { cloud in
      func users(_ arguments: [String], _ input: String?) async throws -> (Int32, String) {
        let program = try Program(
          "petrel", ["users"] + arguments + ["--data", cloud.directory], input: input,
          in: cloud.directory)
        return (try await program.end(), program.output)
      }
      #expect(try await users(["add", "zoe", "--password-from-stdin"], "first secret\n").0 == 0)
      let first = try await cloud.store.accounts.passwordHash(ofUserNamed: "zoe")
      #expect(first?.hasPrefix("$argon2id$") ?? false)
      #expect(try await users(["password", "zoe"], "second secret\nmore\n") == (0, ""))
      let second = try await cloud.store.accounts.passwordHash(ofUserNamed: "zoe")
      #expect(second != nil && second != first)
      for (name, input, complaint) in [
        ("zoe", "short\n", "8 to 1024 bytes"), ("zoe", nil, "no password"),
        ("nobody", "long enough\n", "there is no user named 'nobody'"),
      ] {
        let (status, output) = try await users(["password", name], input)
        #expect(status != 0 && output.contains(complaint), "\(output)")
      }
      #expect(try await cloud.store.accounts.passwordHash(ofUserNamed: "zoe") == second)
    }
  }

  @Test("The FeedItem example saves its subscription once, and it fires")
  func feedItem() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let environment = [
        "PETREL_SERVER": await cloud.serverURL.absoluteString,
        "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
        "PETREL_DEVICE": "anna-phone", "HOME": cloud.directory,
        "XDG_CONFIG_HOME": cloud.directory + "/.config",
      ]
      let first = try Program("FeedItem", environment: environment, in: cloud.directory)
      #expect(try await first.end() == 0)
      #expect(first.output == "Saved: tagged-feed-changes\n")
      let second = try Program("FeedItem", environment: environment, in: cloud.directory)
      #expect(try await second.end() == 0)
      #expect(second.output == "The subscription was saved by an earlier launch.\n")
      #expect(
        try await phone.privateCloudDatabase.allSubscriptions().map(\.subscriptionID)
          == ["tagged-feed-changes"])
      let zoneID = CKRecordZone.ID(zoneName: "Feed")
      try await laptop.add("FeedItem", "swift", ["tags": ["Linux", "Swift"]], zone: zoneID)
      try await laptop.add("FeedItem", "other", ["tags": ["Swiftly"]], zone: zoneID)
      try await laptop.add("FeedItem", "elsewhere", ["tags": ["Swift"]])
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created swift"])
      #expect(pushes.first?.headers["apns-push-type"] == "background")
    }
  }

  @Test("The README's first program prints a notification of what another device saves")
  func firstProgram() async throws {
    let program = try RepositoryFile.text("Examples/FirstProgram/main.swift")
    #expect(try RepositoryFile.text("README.md").contains("```swift\n\(program)```"))
    try await Cloud.run { cloud in
      var environment = [
        "PETREL_SERVER": await cloud.serverURL.absoluteString,
        "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
        "HOME": cloud.directory, "PETREL_DEVICE": "phone",
      ]
      // To a file a program prints only when it ends, or has much to print.
      let phone = try Program(
        "FirstProgram", environment: environment, through: ["/usr/bin/stdbuf", "--output=L"],
        in: cloud.directory)
      let user = try await cloud.container(of: "anna", device: "any").userRecordID().recordName
      try await eventually("the phone waits") {
        try await cloud.store.devices.deviceTokens(of: user).contains { $0.kind == .courier }
      }
      environment["PETREL_DEVICE"] = "sensor"
      for magnitude in ["5.9", "6.4"] {
        let sensor = try Program(
          "FirstProgram", [magnitude], environment: environment, in: cloud.directory)
        #expect(try await sensor.end() == 0, "\(sensor.output)")
      }
      try await eventually("the phone prints") { phone.output.contains("\n") }
      try await phone.kill()
      let lines = phone.output.split(separator: "\n")
      #expect(lines.count == 1)
      #expect(lines.first?.contains(", subscription strong, recordCreated ") == true, "\(lines)")
    }
  }

  @available(*, deprecated)
  @Test("The FeedItem example's operation calls the blocks of both styles")
  func feedItemOperation() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let subscription = CKQuerySubscription(
        recordType: "FeedItem", predicate: NSPredicate(format: "tags CONTAINS 'Swift'"),
        subscriptionID: "tagged-feed-changes", options: .firesOnRecordCreation)
      subscription.zoneID = CKRecordZone.default().zoneID
      subscription.notificationInfo = .init(shouldSendContentAvailable: true)
      let refused = CKQuerySubscription(
        recordType: "FeedItem", predicate: .all, subscriptionID: "refused",
        options: .firesOnRecordCreation)
      refused.notificationInfo = .init(desiredKeys: ["a", "b", "c", "d"])
      let good = await phone.outcome(
        of: CKModifySubscriptionsOperation(
          subscriptionsToSave: [subscription], subscriptionIDsToDelete: nil))
      #expect(good.saved == ["tagged-feed-changes"])
      #expect(good.errors.isEmpty && good.resultError == nil && good.completionError == nil)
      let mixed = await phone.outcome(
        of: CKModifySubscriptionsOperation(
          subscriptionsToSave: [subscription, refused], subscriptionIDsToDelete: nil))
      #expect(mixed.saved == ["tagged-feed-changes"])
      #expect(mixed.errors.mapValues(\.code) == ["refused": .invalidArguments])
      #expect(mixed.resultError == nil)
      #expect(mixed.completionError?.code == .partialFailure)
      let partial = mixed.completionError?.partialErrorsByItemID
      #expect((partial?["refused"] as? CKError)?.code == .invalidArguments)
    }
  }
}
