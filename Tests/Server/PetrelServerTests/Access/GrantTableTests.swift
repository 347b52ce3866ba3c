import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// Walks the tables of roles and permissions in docs/reference/access-table.md.
struct GrantTableTests {
  typealias Found = [AccessTable.Cell: Set<String>]

  private static let roles = ["nobody", "_world", "_icloud", "_creator", "Editor"]

  /// Somebody who asks.
  private struct Asker {
    var column: String
    var user: TestUser?
    var key: SigningClient?
  }

  /// A service whose callers are of every role, and what each made.
  private struct World {
    let service: Service
    var askers: [Asker] = []
    var last = 0

    /// - Parameter editors: who has the role Editor.
    init(_ service: Service, editors: [String]) async throws {
      self.service = service
      let store = service.store
      let dora = try await Service.addUser("dora", to: store)
      let key = try await SigningClient(service, container: Service.container)
      askers = [
        Asker(column: "nobody"), Asker(column: "creator", user: service.alice),
        Asker(column: "another user", user: service.bob),
        Asker(column: "member of Editor", user: dora), Asker(column: "program", key: key),
      ]
      try await service.grant(.standard, roles: ["Editor"])
      for editor in editors {
        let user = editor == "dora" ? dora : service.bob
        try await store.schemas.setMembership(
          true, of: user.recordName, in: "Editor", container: Service.container,
          environment: .development)
      }
    }

    func send(_ operation: String, _ body: String, as asker: Asker) async throws -> Answer {
      guard let key = asker.key else {
        return try await service.post(operation, body, as: asker.user)
      }
      let path = String(service.target(operation, as: nil).prefix { $0 != "?" })
      return try await service.client.send(
        "POST", path, headers: try key.headers(path, body), body: Data(body.utf8))
    }

    /// Records of Alice's, one for each name, while everybody may create.
    func make(_ names: [String]) async throws {
      try await service.grant(.standard)
      let operations = names.map { Service.operation("create", $0) }.joined(separator: ",")
      let answer = try await service.post(
        "public/records/modify", #"{"operations": [\#(operations)]}"#, as: service.alice)
      try #require(answer.outcomes == names.map { _ in "ok" })
    }

    mutating func name() -> String {
      last += 1
      return "r\(last)"
    }

    /// A record's change tag, which whoever could once read it may know.
    func tag(of name: String) async throws -> String {
      let record = try await service.store.records.records(
        [RecordID(recordName: name)], in: service.publicDatabase()
      ).first
      return try #require(record??.recordChangeTag)
    }

    func modify(
      _ kind: String, _ name: String, tag: String? = nil, as asker: Asker
    ) async throws -> String {
      let answer = try await send(
        "public/records/modify",
        #"{"operations": [\#(Service.operation(kind, name, tag: tag))]}"#, as: asker)
      return answer.accessOutcome
    }
  }

  private static func grants(_ permission: RecordPermissions, to role: String) -> RecordGrants {
    role == "nobody" ? RecordGrants([:]) : RecordGrants([role: permission])
  }

  /// Checks READ: a lookup shows whether the caller may read the record; a query and the feed
  /// contain it or not accordingly.
  private func walkReading(_ world: inout World) async throws -> Found {
    var found: Found = [:]
    for role in Self.roles {
      let name = world.name()
      try await world.make([name])
      try await world.service.grant(Self.grants(.read, to: role))
      for asker in world.askers {
        let cell = AccessTable.Cell(row: "READ \(role)", column: asker.column)
        let lookup = try await world.send(
          "public/records/lookup", #"{"records": [{"recordName": "\#(name)"}]}"#, as: asker)
        found[cell, default: []].insert(lookup.accessOutcome)
        let query = try await world.send(
          "public/records/query", #"{"query": {"recordType": "Note"}, "resultsLimit": 200}"#,
          as: asker)
        let feed = try await world.send("public/records/changes", "{}", as: asker)
        let zone = try await world.send(
          "public/changes/zone",
          #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}}]}"#, as: asker)
        for answer in [query, feed, zone] where answer.json.text.contains("\"\(name)\"") {
          found[cell, default: []].insert("200")
        }
        if lookup.accessOutcome == "200" {
          for answer in [query, feed] where !answer.json.text.contains("\"\(name)\"") {
            found[cell, default: []].insert("unseen: \(answer.accessOutcome)")
          }
        }
      }
    }
    return found
  }

  private func walkCreating(_ world: inout World) async throws -> Found {
    var found: Found = [:]
    for role in Self.roles {
      try await world.service.grant(Self.grants(.create, to: role))
      for asker in world.askers {
        let cell = AccessTable.Cell(row: "CREATE \(role)", column: asker.column)
        for kind in ["create", "forceUpdate", "forceReplace"] {
          found[cell, default: []].insert(
            try await world.modify(kind, world.name(), as: asker))
        }
      }
    }
    return found
  }

  private func walkWriting(_ world: inout World) async throws -> Found {
    let kinds = ["update", "replace", "forceUpdate", "forceReplace", "delete", "forceDelete"]
    var found: Found = [:]
    for role in Self.roles {
      var names: [String] = []
      for _ in 0..<world.askers.count * kinds.count { names.append(world.name()) }
      try await world.make(names)
      try await world.service.grant(Self.grants(.write, to: role))
      for asker in world.askers {
        let cell = AccessTable.Cell(row: "WRITE \(role)", column: asker.column)
        for kind in kinds {
          let name = names.removeFirst()
          let tag = kind.hasPrefix("force") ? nil : try await world.tag(of: name)
          found[cell, default: []].insert(
            try await world.modify(kind, name, tag: tag, as: asker))
        }
      }
    }
    return found
  }

  private func walk(editors: [String], _ body: (Found) throws -> Void) async throws {
    try await withService { service in
      var world = try await World(service, editors: editors)
      var found = try await walkReading(&world)
      found.merge(try await walkCreating(&world)) { $1 }
      found.merge(try await walkWriting(&world)) { $1 }
      try body(found)
    }
  }

  @Test("each permission lets in whom it was given to, and nobody else")
  func grants() async throws {
    let table = try AccessTable("Roles and permissions", names: 2)
    try await walk(editors: ["dora"]) { table.check($0) }
  }

  @Test("where somebody has a role too many, the walk names that role's cells and no others")
  func roleTooMany() async throws {
    let table = try AccessTable("Roles and permissions", names: 2)
    try await walk(editors: ["dora", "bob"]) { found in
      #expect(
        table.deviations(of: found)
          == Dictionary(
            uniqueKeysWithValues: ["READ", "CREATE", "WRITE"].map {
              (AccessTable.Cell(row: "\($0) Editor", column: "another user"), "200")
            }))
    }
  }
}
