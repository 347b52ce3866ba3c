import CloudKitModel
import Foundation
import JSONCoding
import PropertyTesting
import Testing

@testable import PetrelServer

/// Tests of the facts that Bob and an anonymous caller can learn of Alice's records in the public
/// database, if grants hide those records from them.
struct HiddenRecordsTests {
  enum Engine: CaseIterable {
    case file
    /// With two servers: what is saved at one is asked for at the other.
    case postgreSQL
  }

  private func withService(
    on engine: Engine, _ body: (Service, _ asked: ServiceClient) async throws -> Void
  ) async throws {
    switch engine {
    case .file:
      try await PetrelServerTests.withService { try await body($0, $0.client) }
    case .postgreSQL:
      try await withTwoServers { try await body($0, $1) }
    }
  }

  // MARK: The attack

  private static let letters = Array("adgjmpsv")

  /// Bob's search for a title of Alice's: he puts two records of his own around a part of the titles, and
  /// sees in how many pages they come.
  private struct Attack {
    let service: Service
    /// The server that is asked.
    let asked: ServiceClient
    /// The observed sizes of pages.
    private(set) var observed: Set<[Int]> = []

    init(_ service: Service, asked: ServiceClient) {
      self.service = service
      self.asked = asked
    }

    /// The sizes of a query's pages.
    mutating func sizes(_ query: String, limit: Int) async throws -> [Int] {
      var sizes: [Int] = []
      var marker = ""
      repeat {
        let page = try await asked.send(
          "POST", service.target("public/records/query", as: service.bob),
          body: Data(#"{"query": \#(query), "resultsLimit": \#(limit)\#(marker)}"#.utf8))
        try #require(page.status == 200, "\(page.json)")
        sizes.append(page.items.count)
        marker =
          page.json["continuationMarker"]?.string.map { #", "continuationMarker": "\#($0)""# }
          ?? ""
      } while !marker.isEmpty
      observed.insert(sizes)
      return sizes
    }

    /// Whether a title of Alice's seems to lie between two others.
    private mutating func isAny(from low: String, to high: String) async throws -> Bool {
      let saved = try await service.modify(
        Service.operation("forceUpdate", "low", #""title": {"value": "\#(low)"}"#),
        Service.operation("forceUpdate", "high", #""title": {"value": "\#(high)"}"#),
        as: service.bob)
      try #require(saved.outcomes == ["ok", "ok"])
      let sizes = try await sizes(
        #"{"recordType": "Note", "filterBy": [{"fieldName": "title", "comparator": "#
          + #""GREATER_THAN_OR_EQUALS", "fieldValue": {"value": "\#(low)"}}], "#
          + #""sortBy": [{"fieldName": "title"}]}"#, limit: 2)
      return sizes.first != 2
    }

    mutating func secret(of length: Int) async throws -> String {
      _ = try await service.modify(
        Service.operation("forceUpdate", "last", #""title": {"value": "~"}"#), as: service.bob)
      var known = ""
      for _ in 0..<length {
        var (low, high) = (0, letters.count)
        while high - low > 1 {
          let middle = (low + high) / 2
          let isLower = try await isAny(
            from: known + String(letters[low]), to: known + String(letters[middle]))
          if isLower { high = middle } else { low = middle }
        }
        known.append(letters[low])
      }
      return known
    }
  }

  @Test("pages of one's own records do not tell where others' are", arguments: Engine.allCases)
  func attack(_ engine: Engine) async throws {
    try await withService(on: engine) { service, asked in
      try await service.grant(RecordGrants(["_creator": [.read, .write], "_icloud": .create]))
      let secret = "msdjva"
      let saved = try await service.modify(
        Service.operation("create", "secret", #""title": {"value": "\#(secret)"}"#))
      try #require(saved.outcomes == ["ok"])
      var attack = Attack(service, asked: asked)
      #expect(try await attack.secret(of: secret.count) != secret)
      #expect(attack.observed == [[2, 1]])
    }
  }

  // MARK: Two worlds

  private static let own = RecordGrants(["_creator": [.read, .write], "_icloud": .create])
  private static let editors = RecordGrants(["Editor": [.read, .write], "_icloud": .create])

  private static var schema: ContainerSchema {
    func type(_ grants: RecordGrants) -> ContainerSchema.RecordType {
      var type = ContainerSchema.RecordType.implicit
      type.grants = grants
      for (name, element) in [("title", ValueType.string), ("n", .int64), ("file", .asset)] {
        type.fields[name] = .init(
          FieldType(element), indexes: .implicit(for: FieldType(element)))
      }
      return type
    }
    return ContainerSchema(
      roles: ["Editor"],
      recordTypes: ["Note": type(own), "Diary": type(editors), "Post": type(.standard)])
  }

  /// Makes records of Bob's and, in the full world, of Alice's that only she or editors may read; and others
  /// that everybody reads.
  private func fill(_ service: Service, isFull: Bool) async throws {
    _ = try await service.store.schemas.importSchema(
      Self.schema, of: Service.container, isDryRun: false)
    var generator = SeededGenerator(seed: 5)
    for number in 0..<90 {
      let type = ["Note", "Note", "Diary", "Post"][number % 4]
      let isBobs = generator.chance(1, in: 3)
      let fields =
        #""title": {"value": "\#(generator.pick(["a b", "b", "b c", "c", "d e"]))"}, "#
        + #""n": {"value": \#(Int.random(in: 0..<5, using: &generator))}"#
      let isDeleted = generator.chance(1, in: 5)
      guard isFull || type == "Post" || (isBobs && type == "Note") else { continue }
      let user = isBobs ? service.bob : service.alice
      let name = "\(isBobs ? "b" : "a")\(number)"
      let saved = try await service.modify(
        Service.operation("create", name, fields, type: type), as: user)
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      if isDeleted, type != "Diary" {
        let deleted = try await service.modify(Service.operation("forceDelete", name), as: user)
        try #require(deleted.outcomes == ["deleted"], "\(deleted.json)")
      }
    }
  }

  /// All pages of the answer to a question, without what is sealed, random or the time.
  private func told(
    _ question: Question, as user: TestUser?, _ service: Service, _ asked: ServiceClient
  ) async throws -> [String] {
    var pages: [String] = []
    var more = ""
    repeat {
      let body = question.body + more
      let answer = try await asked.send(
        "POST", service.target(question.operation, as: user),
        body: Data((body.isEmpty ? "" : "{\(body.drop { $0 == "," })}").utf8))
      let next = answer.json["continuationMarker"]?.string.map { ("continuationMarker", $0) }
      let feed =
        answer.json["moreComing"] == .bool(true)
        ? answer.json["syncToken"]?.string.map { ("syncToken", $0) } : nil
      more = (next ?? feed).map { #", "\#($0)": "\#($1)""# } ?? ""
      var text = "\(answer.status) \(Self.plain(answer.json))"
      for (name, word) in [
        (service.alice.recordName, "<alice>"), (service.bob.recordName, "<bob>"),
      ] { text = text.replacing(name, with: word) }
      pages.append(text)
    } while !more.isEmpty
    return pages
  }

  private static func plain(_ value: JSONValue) -> String {
    switch value {
    case .array(let elements):
      return "[\(elements.map(plain).joined(separator: ", "))]"
    case .object(let members):
      let texts = members.sorted { $0.key < $1.key }.map { name, member in
        switch name {
        // A sign-in has a state of its own.
        case "recordChangeTag", "timestamp", "uuid", "redirectURL": "\(name): -"
        case "continuationMarker", "syncToken": "\(name): \(member.string?.count ?? 0)"
        default: "\(name): \(plain(member))"
        }
      }
      return "{\(texts.joined(separator: ", "))}"
    case .string(let text) where text.utf8.contains(UInt8(ascii: "'")):
      // The change tag in a conflict's reason.
      return "\"\(text.replacing(/has '[0-9a-z]+'/) { _ in "has '-'" })\""
    default:
      return "\(value)"
    }
  }

  @Test(
    "no answer tells whether there are such records: pages, feeds, zones, subscriptions, users, errors",
    arguments: Engine.allCases)
  func twoWorlds(_ engine: Engine) async throws {
    var worlds: [[(Question, [String])]] = []
    for isFull in [false, true] {
      try await withService(on: engine) { service, asked in
        try await fill(service, isFull: isFull)
        var answers: [(Question, [String])] = []
        for user in [service.bob, nil] {
          for question in Self.queries + Self.others {
            answers.append((question, try await told(question, as: user, service, asked)))
          }
        }
        worlds.append(answers)
      }
    }
    #expect(worlds[0].count > 150 && worlds[0].count == worlds[1].count)
    for ((question, without), (_, with)) in zip(worlds[0], worlds[1]) {
      #expect(without == with, "\(question.operation) \(question.body)")
    }
    let pages = worlds[1].flatMap(\.1)
    #expect(pages.count > 400)
    #expect(pages.count { $0.hasPrefix("200") } > 300)
  }

  @Test(
    "what is refused of a record that exists is refused in the same words, whatever its type and grants",
    arguments: Engine.allCases)
  func refusals(_ engine: Engine) async throws {
    try await withService(on: engine) { service, asked in
      _ = try await service.store.schemas.importSchema(
        Self.schema, of: Service.container, isDryRun: false)
      for (name, type) in [("x", "Note"), ("y", "Diary")] {
        let saved = try await service.modify(
          Service.operation("create", name, #""title": {"value": "Milk"}"#, type: type))
        try #require(saved.outcomes == ["ok"])
      }
      var codes: Set<String> = []
      for user in [service.bob, nil] {
        func ask(_ operation: String, _ body: (String) -> String) async throws {
          var texts: [String] = []
          for name in ["x", "y"] {
            let question = Question(operation: "public/" + operation, body: body(name))
            texts += try await told(question, as: user, service, asked)
              .map { $0.replacing("\(name) in", with: "- in").replacing("'\(name)'", with: "'-'") }
              .map { $0.replacing(#""\#(name)""#, with: #""-""#) }
          }
          #expect(texts[0] == texts[1])
          for secret in ["Note", "Diary", "Milk", service.alice.recordName, "<alice>"] {
            #expect(!texts[0].contains(secret), "\(texts[0])")
          }
          for match in texts[0].matches(of: /[A-Z]+_[A-Z_]+|EXISTS/) {
            codes.insert(String(match.output))
          }
        }
        try await ask("records/lookup") { #""records": [{"recordName": "\#($0)"}]"# }
        try await ask("assets/rereference") {
          #""assets": [{"recordName": "\#($0)", "fieldName": "file"}]"#
        }
        for kind in [
          "create", "update", "replace", "forceUpdate", "forceReplace", "delete", "forceDelete",
        ] {
          for type in ["Post", nil] {
            try await ask("records/modify") {
              #""operations": [\#(Service.operation(kind, $0, tag: "1", type: type))]"#
            }
          }
        }
      }
      #expect(codes.isSuperset(of: ["ACCESS_DENIED", "EXISTS", "AUTHENTICATION_REQUIRED"]))
    }
  }

  @Test("a request that is repeated brings no record that somebody else made since")
  func repeated() async throws {
    try await withService(on: .file) { service, _ in
      try await service.grant(Self.own)
      let named = #", "requestID": "once""#
      let create = Service.operation("create", "a")
      #expect(try await service.modify(create, as: service.bob, more: named).outcomes == ["ok"])
      _ = try await service.modify(Service.operation("forceDelete", "a"), as: service.bob)
      _ = try await service.modify(Service.operation("create", "a", #""title": {"value": "Milk"}"#))
      let again = try await service.modify(create, as: service.bob, more: named)
      #expect(again.outcomes == ["ACCESS_DENIED"])
      #expect(!again.json.text.contains("Milk"))
    }
  }

  @Test(
    "a marker of one user is refused in the database of another, by name",
    arguments: Engine.allCases)
  func markers(_ engine: Engine) async throws {
    try await withService(on: engine) { service, asked in
      for user in [service.alice, service.bob] {
        for database in ["private", "public"] {
          for name in ["a", "b"] {
            _ = try await service.modify(
              Service.operation("create", "\(name) of \(user.name)"), in: database, as: user)
          }
        }
      }
      let query = #"{"query": {"recordType": "Note"}, "resultsLimit": 1"#
      for database in ["private", "public"] {
        let first = try await service.post(
          "\(database)/records/query", query + "}", as: service.alice)
        let marker = try #require(first.json["continuationMarker"]?.string)
        let next = query + #", "continuationMarker": "\#(marker)"}"#
        for (other, user) in [
          (database, service.bob), (database == "public" ? "private" : "public", service.alice),
        ] {
          let refused = try await service.post("\(other)/records/query", next, as: user)
          #expect(refused.failure == "400 BAD_REQUEST")
          #expect(refused.reason.hasPrefix("continuationMarker: "), "\(refused.reason)")
        }
        let followed = try await asked.send(
          "POST", service.target("\(database)/records/query", as: service.alice),
          body: Data(next.utf8))
        #expect(followed.items.count == 1)
      }
    }
  }

  // MARK: Work

  @Test(
    "a query takes the store as many steps whether there are such records or not",
    .enabled(if: ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] != "postgres"))
  func countedWork() async throws {
    var worlds: [[(Question, [String: Int])]] = []
    for isFull in [false, true] {
      try await SQLiteWork.watching {
        try await withService(on: .file) { service, asked in
          try await fill(service, isFull: isFull)
          let questions = Self.queries.filter { !$0.body.contains("\"Post\"") }
          for question in questions {
            _ = try await told(question, as: service.bob, service, asked)
          }
          var work: [(Question, [String: Int])] = []
          for question in questions {
            let steps = try await SQLiteWork.steps(in: service) {
              _ = try await told(question, as: service.bob, service, asked)
            }
            work.append((question, steps))
          }
          worlds.append(work)
        }
      }
    }
    #expect(worlds[0].count > 30 && worlds[0].count == worlds[1].count)
    for ((question, without), (_, with)) in zip(worlds[0], worlds[1]) {
      #expect(without == with, "\(question.body)")
    }
    #expect(worlds[0].count { !$0.1.isEmpty } > 30)
  }
}
