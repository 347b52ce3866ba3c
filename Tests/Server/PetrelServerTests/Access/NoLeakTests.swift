import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import StoreModel
import Testing
import WebPushSimulation

@testable import PetrelServer
@testable import Storage

/// Tests with Bob's requests in two worlds: in one Alice has private data, in the other she has
/// none. Bob must not be able to distinguish them, whatever names he guesses.
struct NoLeakTests {
  /// The names that Bob guesses and that Alice may have.
  private static let device = String(repeating: "a1", count: 32)
  private static let browser = "https://push.example.com/alices"
  private static let asset = Data("Alice's secret".utf8)
  private static let notification = "4a3dd3c4-1c64-4c9f-a1f1-0d6f5a2c9f11"

  private static var settings: ServiceSettings {
    var settings = ServiceSettings(pollTime: 0)
    settings.webPush = .init(subject: "mailto:ops@example.com")
    settings.webhooks = .init()
    return settings
  }

  /// Gives Alice something of every kind that is nobody else's.
  private func fill(_ service: Service) async throws {
    try await useDatabases(["private", "shared"], of: service.alice, service)
    for database in ["private", "public"] {
      try await service.subscribe(
        #"{"subscriptionID": "secret", "subscriptionType": "query", "firesOn": ["create"], "#
          + #""query": {"recordType": "Note"}}"#, in: database)
    }
    try await service.makeZone("Secrets")
    try await service.subscribe(
      #"{"subscriptionID": "zone", "subscriptionType": "zone", "zoneID": {"zoneName": "Secrets"}}"#,
      in: "private")
    let uploaded = try await service.uploaded(
      Self.asset, record: "file", field: "file", in: "private")
    let saved = try await service.modify(
      Service.operation("create", "secret", #""title": {"value": "Milk"}"#),
      Service.operation("create", "file", #""file": {"value": \#(uploaded.text)}"#),
      in: "private")
    try #require(saved.outcomes == ["ok", "ok"])
    let inZone = try await service.modify(
      Service.operation("create", "secret", zone: "Secrets"), in: "private")
    try #require(inZone.outcomes == ["ok"])
    // Everyone who has the link may join. Bob does not have it.
    let shared = try await service.modify(
      """
      {"operationType": "create", "record": {"recordName": "cloudkit.zoneshare",
       "recordType": "cloudkit.share", "zoneID": {"zoneName": "Secrets"},
       "publicPermission": "READ_WRITE", "fields": {"cloudkit.title": {"value": "Milk"}}}}
      """, in: "private")
    try #require(shared.outcomes == ["ok"], "\(shared.json)")
    _ = try await service.post(
      "tokens/register", #"{"apnsEnvironment": "development", "apnsToken": "\#(Self.device)"}"#,
      as: service.alice)
    _ = try await service.makeReader(as: service.alice)
    try await service.register(
      BrowserSubscription(endpoint: Self.browser), as: service.alice)
    _ = try await service.post("tokens/badge", #"{"badge": 7}"#, as: service.alice)
    try await service.waitForDispatch(of: 1)
  }

  /// Has a user use databases, which makes them.
  private func useDatabases(
    _ databases: [String], of user: TestUser, _ service: Service
  ) async throws {
    for database in databases where database != "shared" {
      let own = try await service.modify(
        Service.operation("create", "own-\(user.name)"), in: database, as: user)
      try #require(own.outcomes == ["ok"])
    }
    guard databases.contains("shared") else { return }
    let shared = try await service.post("shared/zones/list", "", as: user)
    try #require(shared.status == 200)
  }

  /// Runs `body` in one of the worlds.
  private func world(
    _ isFull: Bool, _ body: (Service) async throws -> Void
  ) async throws {
    try await withService(Self.settings) { service in
      try await useDatabases(["public"], of: service.alice, service)
      // Else Alice's come first, and Bob's have other numbers.
      if isFull { try await fill(service) }
      try await useDatabases(["public", "private", "shared"], of: service.bob, service)
      try await body(service)
    }
  }

  // MARK: What Bob asks

  private struct Question: Sendable {
    var operation: String
    var body: String
  }

  /// Questions that name what is Alice's, by Alice's name for it and by Bob's.
  private static func questions(_ service: Service) throws -> [Question] {
    let alice = service.alice.recordName
    let checksum = SHA256.hash(asset).map { String(format: "%02x", $0) }.joined()
    let browser = try BrowserSubscription(endpoint: Self.browser)
    var questions: [Question] = []
    func ask(_ operation: String, _ body: String) {
      questions.append(Question(operation: operation, body: body))
    }
    for database in ["private", "shared", "public"] {
      for owner in ["", #", "ownerRecordName": "\#(alice)""#] {
        for zone in ["_defaultZone", "Secrets"] {
          let zoneID = #"{"zoneName": "\#(zone)"\#(owner)}"#
          ask(
            "\(database)/records/lookup",
            #"{"records": [{"recordName": "secret"}, {"recordName": "file"}, "#
              + #"{"recordName": "cloudkit.zoneshare"}], "zoneID": \#(zoneID)}"#)
          ask(
            "\(database)/records/query",
            #"{"query": {"recordType": "Note"}, "zoneID": \#(zoneID)}"#)
          ask("\(database)/records/changes", #"{"zoneID": \#(zoneID)}"#)
          ask("\(database)/changes/zone", #"{"zones": [{"zoneID": \#(zoneID)}]}"#)
          ask("\(database)/zones/lookup", #"{"zones": [\#(zoneID)]}"#)
          ask(
            "\(database)/assets/rereference",
            #"{"assets": [{"recordName": "file", "fieldName": "file"}], "zoneID": \#(zoneID)}"#)
          for kind in ["update", "delete", "forceDelete", "create", "forceUpdate"] {
            ask(
              "\(database)/records/modify",
              #"{"zoneID": \#(zoneID), "operations": [{"operationType": "\#(kind)", "record": "#
                + #"{"recordName": "secret", "recordType": "Note", "recordChangeTag": "1", "#
                + #""fields": {"title": {"value": "Bob's"}}}}]}"#)
          }
          ask(
            "\(database)/zones/modify",
            #"{"operations": [{"operationType": "delete", "zone": {"zoneID": \#(zoneID)}}]}"#)
        }
      }
      // The bytes that Alice has, without having sent them.
      ask(
        "\(database)/records/modify",
        #"{"operations": [{"operationType": "create", "record": {"recordName": "mine", "#
          + #""recordType": "Note", "fields": {"file": {"value": {"fileChecksum": "\#(checksum)", "#
          + #""size": \#(asset.count), "receipt": "guessed"}}}}}]}"#)
      ask(
        "\(database)/records/modify",
        #"{"operations": [{"operationType": "create", "record": {"recordName": "theirs", "#
          + #""recordType": "Note", "fields": {"to": {"value": {"recordName": "secret", "#
          + #""action": "NONE"}}}}}]}"#)
      for id in ["secret", "zone"] {
        ask(
          "\(database)/subscriptions/lookup", #"{"subscriptions": [{"subscriptionID": "\#(id)"}]}"#)
        ask(
          "\(database)/subscriptions/modify",
          #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "\#(id)"}}]}"#
        )
        ask(
          "\(database)/subscriptions/modify",
          #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "\#(id)", "#
            + #""subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}}]}"#
        )
      }
      for operation in [
        "zones/list", "subscriptions/list", "changes/database", "zones/changes", "users/caller",
        "users/current", "users/discover", "users/lookup/contacts", "users/permissions",
      ] { ask("\(database)/\(operation)", operation.contains("changes") ? "{}" : "") }
      ask(
        "\(database)/assets/upload", #"{"tokens": [{"recordType": "Note", "fieldName": "file"}]}"#)
      ask("\(database)/users/lookup/id", #"{"users": [{"userRecordName": "\#(alice)"}]}"#)
      ask("\(database)/users/lookup/email", #"{"users": [{"emailAddress": "alice@example.com"}]}"#)
      for operation in ["resolve", "accept", "requestAccess"] {
        ask("\(database)/records/\(operation)", #"{"shortGUIDs": [{"value": "secret"}]}"#)
      }
    }
    ask("tokens/create", #"{"apnsEnvironment": "development", "clientId": "d"}"#)
    ask("notifications/changes", "{}")
    ask("notifications/markRead", #"{"notifications": [{"notificationID": "\#(notification)"}]}"#)
    ask("tokens/badge", #"{"badge": 3}"#)
    ask("webPush/key", "{}")
    ask("webPush/unregister", #"{"endpoint": "\#(Self.browser)"}"#)
    ask(
      "webPush/register",
      #"{"subscription": {"endpoint": "\#(Self.browser)", "keys": {"p256dh": "\#(browser.p256dh)", "#
        + #""auth": "\#(browser.auth)"}}}"#)
    ask(
      "tokens/register", #"{"apnsEnvironment": "development", "apnsToken": "\#(device)"}"#)
    ask("tokens/unregister", #"{"apnsToken": "\#(device)"}"#)
    ask("tokens/unregister", #"{"clientId": "d"}"#)
    ask("webhooks/list", "{}")
    ask("server/limits", "")
    ask("webhooks/register", #"{"url": "https://hooks.example.com/a"}"#)
    ask("webhooks/delete", #"{"webhookId": "webhook:secret"}"#)
    return questions
  }

  /// Returns an answer without random parts and times, and with its sealed parts opened.
  private func told(
    _ answer: Answer, to question: Question, _ names: [String: String], _ seals: Seals
  ) -> String {
    var text = "\(answer.status)\n"
    // A length follows from the body, of which something random may have to be escaped.
    let passing: Set<String> = ["date", "x-apple-request-uuid", "content-length"]
    for (name, value) in answer.headers.sorted(by: { $0.key < $1.key })
    where !passing.contains(name) { text += "\(name): \(value)\n" }
    text += String(decoding: answer.body, as: UTF8.self)
    for (word, name) in names { text = text.replacing(word, with: name) }
    text = seals.opened(text)
    return
      text
      .replacing(/[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/) {
        _ in "<uuid>"
      }
      // A time of this century, in milliseconds, and secrets of their length.
      .replacing(/\b1[6-9]\d{11}\b/) { _ in "<time>" }
      .replacing(/\/upload\/[A-Za-z0-9_-]{43}/) { _ in "/upload/<secret>" }
      .replacing(/"apnsToken":"[A-Za-z0-9+\/]{43}="/) { _ in "\"apnsToken\":\"<token>\"" }
      .replacing(/tok=[A-Za-z0-9%]+/) { _ in "tok=<token>" }
      .replacing(/"applicationServerKey":"[A-Za-z0-9_-]+"/) { _ in "<key>" }
  }

  private func answers(_ service: Service) async throws -> [(question: Question, answer: String)] {
    let names = [
      service.alice.recordName: "<alice>", service.bob.recordName: "<bob>",
      "127.0.0.1:\(service.server.port)": "<server>",
    ]
    let seals = try await Seals(service)
    var answers: [(Question, String)] = []
    for question in try Self.questions(service) {
      let answer = try await service.post(question.operation, question.body, as: service.bob)
      answers.append((question, told(answer, to: question, names, seals)))
    }
    return answers
  }

  @Test("no answer tells whether another has records, zones, subscriptions, devices or assets")
  func twoWorlds() async throws {
    var worlds: [[(question: Question, answer: String)]] = []
    for isFull in [false, true] {
      try await world(isFull) { service in
        worlds.append(try await answers(service))
        let asked = Set(
          try Self.questions(service).map {
            $0.operation.replacing(/^(public|private|shared)\//, with: "")
          })
        let served = try await service.post("public/no/such", "{}", as: service.alice)
          .reason.components(separatedBy: "known are ").last?.components(separatedBy: ", ")
        #expect(asked == Set(served ?? []), "every operation is asked")
      }
    }
    #expect(worlds[0].count > 150 && worlds[0].count == worlds[1].count)
    var successes = 0
    for (empty, full) in zip(worlds[0], worlds[1]) {
      #expect(
        empty.answer == full.answer, "\(empty.question.operation) \(empty.question.body)")
      if full.answer.hasPrefix("200") { successes += 1 }
      #expect(!full.answer.contains("Milk"))
    }
    #expect(successes > 50)
  }

  @Test("nobody can count what others do by what is told of one's own changes")
  func counts() async throws {
    try await withService(Self.settings) { service in
      func found(_ name: String, in answer: Answer) throws -> String {
        let text = String(decoding: answer.body, as: UTF8.self)
        let match = try #require(try Regex("\"\(name)\":\"([^\"]+)\"").firstMatch(in: text))
        return try #require(match.output[1].substring.map { String($0) })
      }
      let seals = try await Seals(service)
      var lengths: Set<Int> = []
      var tags: [String] = []
      for round in 0..<6 {
        if round == 3 {
          // From here on each change makes notifications.
          try await service.subscribe(
            #"{"subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"], "#
              + #""query": {"recordType": "Note"}}"#, in: "public")
        }
        let saved = try await service.modify(
          Service.operation("create", "r\(round)"), in: "public", as: service.bob)
        let tag = try found("recordChangeTag", in: saved)
        if round >= 3 { try await service.waitForDispatch(of: round - 2) }
        tags.append(tag)
        let text = try found(
          "syncToken",
          in: try await service.post(
            "public/changes/zone", #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}}]}"#,
            as: service.bob))
        lengths.insert(text.count)
        #expect(seals.opened(tag) == "<tag>")
        #expect(seals.opened("\"\(text)\"").hasPrefix("\"<token of"))
      }
      #expect(lengths.count == 1)
      #expect(tags.allSatisfy { UInt64($0, radix: 36).map { $0 > 1 << 40 } ?? false }, "\(tags)")
    }
  }

  // MARK: Work

  /// Returns whether an operation reads by name and may have its work counted: nothing is
  /// dispatched for it.
  private static func isCounted(_ question: Question) -> Bool {
    let (operation, isPublic) = (question.operation, question.operation.hasPrefix("public/"))
    if isPublic { return operation.contains("/subscriptions/l") }
    return ["/lookup", "/list", "/query", "changes", "/rereference", "/database"].contains {
      operation.contains($0)
    }
  }

  /// For each question the steps that SQLite takes for each of its statements.
  private func work(_ isFull: Bool) async throws -> [(Question, [String: Int])] {
    var work: [(Question, [String: Int])] = []
    try await SQLiteWork.watching {
      try await world(isFull) { service in
        let questions = try Self.questions(service).filter(Self.isCounted)
        func ask(_ question: Question) async throws {
          _ = try await service.post(question.operation, question.body, as: service.bob)
        }
        // Once, for what is remembered from then on.
        for question in questions { try await ask(question) }
        for question in questions {
          work.append(
            (question, try await SQLiteWork.steps(in: service) { try await ask(question) }))
        }
      }
    }
    return work
  }

  @Test(
    "the store works as much for a question whether another has what it names or not",
    .enabled(if: ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] != "postgres"))
  func countedWork() async throws {
    let worlds = [try await work(false), try await work(true)]
    #expect(worlds[0].count > 30 && worlds[0].count == worlds[1].count)
    for ((question, empty), (_, full)) in zip(worlds[0], worlds[1]) {
      #expect(empty == full, "\(question.operation) \(question.body)")
    }
    #expect(worlds[0].count { !$0.1.isEmpty } > 30, "what is counted is there")
  }

  @Test(
    "the count of steps notices a record more",
    .enabled(if: ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] != "postgres"))
  func noticedWork() async throws {
    try await SQLiteWork.watching {
      try await world(false) { service in
        var counts: [Int] = []
        for name in ["a", "b"] {
          _ = try await service.modify(
            Service.operation("create", name), in: "private", as: service.bob)
          let steps = try await SQLiteWork.steps(in: service) {
            _ = try await service.lookup("a", "b", in: "private", as: service.bob)
          }
          counts.append(steps.values.reduce(0, +))
        }
        #expect(counts[1] > counts[0])
      }
    }
  }

  @Test("the comparison notices a record more")
  func noticed() async throws {
    var worlds: [[(question: Question, answer: String)]] = []
    for isFull in [false, true] {
      try await world(false) { service in
        if isFull {
          _ = try await service.modify(
            Service.operation("create", "secret"), in: "private", as: service.bob)
        }
        worlds.append(try await answers(service))
      }
    }
    let told = zip(worlds[0], worlds[1]).filter { $0.answer != $1.answer }.map(\.0.question)
    #expect(told.contains { $0.operation == "private/records/lookup" })
    #expect(told.contains { $0.operation == "private/records/query" })
    #expect(!told.contains { $0.operation.hasPrefix("shared/") })
  }
}
