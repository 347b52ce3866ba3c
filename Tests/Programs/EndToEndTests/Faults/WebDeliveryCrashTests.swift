import CloudKit
import Foundation
import JSONCoding
import Testing
import Waiting
import WebPushSimulation

@testable import Storage

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct WebDeliveryCrashTests {
  @Test("Each gets every notification, repeats are known by their ID, each delivery has one end")
  func killed() async throws {
    try await Cloud.run { cloud in
      let push = try SimulatedPushService(folder: cloud.directory)
      // So many are on their way, or wait to be repeated, when the server is killed.
      let hook = try WebhookReceiver(refusals: 6)
      do {
        try await run(cloud, push, hook)
      } catch {
        await push.stop()
        await hook.stop()
        throw error
      }
      await push.stop()
      await hook.stop()
    }
  }

  private func run(
    _ cloud: Cloud, _ push: SimulatedPushService, _ hook: WebhookReceiver
  ) async throws {
    let browser = try push.subscribe()
    // Few enough that the pauses between them are over in time, should each be met by itself.
    push.script(Array(repeating: .missing, count: 3), for: browser)
    push.script(Array(repeating: .init(503), count: 3), for: browser)
    let app = try await WebCaller(of: "anna", in: cloud)
    let program = try await WebCaller(withKeyNamed: "feed", in: cloud)
    let laptop = try await cloud.container(of: "anna", device: "laptop").publicCloudDatabase
    try await cloud.makeRoomForProgram(settings: [
      "webPush": [
        "subject": "mailto:ops@example.com", "allowedNetworks": ["127.0.0.0/8"],
        "authorityFile": .string(push.authorityFile), "timeoutSeconds": 2,
      ],
      "webhooks": ["allowedNetworks": ["127.0.0.0/8"], "allowsHTTP": true, "timeoutSeconds": 2],
    ])
    var server = try await cloud.startProgram()
    try await register(browser, app, hook, program, laptop)

    var expected: Set<String> = []
    for round in 0..<4 {
      let names = (0..<10).map { "item-\(round)-\($0)" }
      expected.formUnion(names)
      try await laptop.modifyRecords(saving: names.map { CKRecord("Item", $0) }, deleting: [])
      if round == 1 {
        try await eventually("some are under way") {
          push.messages.count > 4 && hook.messages.count > 4
        }
      }
      try await server.kill()
      server = try await cloud.startProgram()
    }
    let store = try await Store.open(
      at: cloud.directory + "/petrel.sqlite", configuration: StoreConfiguration(role: .tool))
    try await eventually("each delivery has its outcome") {
      let isDispatched = try await store.outbox.undispatchedDatabases().isEmpty
      let owed = try await store.deliveries.owedDeliveryCount()
      return isDispatched && owed == 0
    }
    let states = try await store.deliveryStates()
    await store.close()
    try await server.kill()

    #expect(push.messages.flatMap(\.faults) == [])
    #expect(Set(push.messages.map(\.status)) == [0, 201, 503])
    let shown = push.messages.filter { $0.status == 201 }
    #expect(Set(shown.compactMap { $0.json?["ck"]?["qry"]?["rid"]?.string }) == expected)
    let texts = Dictionary(grouping: push.messages) {
      $0.json?["ck"]?["qry"]?["rid"]?.string ?? ""
    }.mapValues { Set($0.map { $0.json?["ck"]?["nid"]?.string }) }
    #expect(texts.values.allSatisfy { $0.count == 1 })

    #expect(hook.messages.allSatisfy { $0.isSigned })
    #expect(Set(hook.messages.map(\.status)) == [204, 503])
    let taken = hook.messages.filter { $0.status == 204 }
    #expect(Set(taken.compactMap(\.recordName)) == expected)
    let identifiers = Dictionary(grouping: hook.messages) { $0.recordName ?? "" }
      .mapValues { Set($0.map(\.id)) }
    #expect(identifiers.values.allSatisfy { $0.count == 1 })
    #expect(Set(identifiers.values.flatMap(\.self)).count == expected.count)

    #expect(states == [DeliveryState.delivered.rawValue: 2 * expected.count])
  }

  private func register(
    _ browser: BrowserSubscription, _ app: WebCaller, _ hook: WebhookReceiver, _ program: WebCaller,
    _ database: CKDatabase
  ) async throws {
    let keys: JSONValue = ["p256dh": .string(browser.p256dh), "auth": .string(browser.auth)]
    try await app.post(
      "webPush/register",
      [
        "subscription": ["endpoint": .string(browser.endpoint), "keys": keys], "clientId": "tab",
      ], root: "device")
    // Silent ones would become one where they wait.
    try await database.subscribe(where: .all, info: .init(alertBody: "New"))
    let made = try await program.post(
      "webhooks/register", ["url": .string(hook.url)], root: "device")
    hook.expect(secret: try #require(made["secret"]?.string))
    let subscription: JSONValue = [
      "subscriptionID": "items", "subscriptionType": "query", "firesOn": ["create"],
      "query": ["recordType": "Item"],
    ]
    try await program.post(
      "public/subscriptions/modify",
      ["operations": [["operationType": "create", "subscription": subscription]]],
      root: "database")
  }
}

extension Store {
  /// How many deliveries are in each state.
  fileprivate func deliveryStates() async throws -> [Int64: Int] {
    try await transactions.read { transaction in
      let rows = try transaction.connection.rows(
        "SELECT state, COUNT(*) FROM deliveries GROUP BY state", []
      ) { ($0.integer(0), Int($0.integer(1))) }
      return Dictionary(uniqueKeysWithValues: rows)
    }
  }
}
