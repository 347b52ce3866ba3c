import Foundation
import JSONCoding
import Testing
import WebServices

@testable import AdminAPI
@testable import Configuration
@testable import DatabaseAPI
@testable import PetrelServer

/// Walks every cell of the tables in docs/reference/access-table.md, against a server over a socket.
struct AccessTableTests {
  typealias Found = [AccessTable.Cell: Set<String>]

  // MARK: What is refused

  /// Returns the answers of every operation to each invalid credential.
  private func walkRefused(_ world: AccessWorld) async throws -> Found {
    var found: Found = [:]
    for operation in world.operations {
      for scope in AccessWorld.scopes(of: operation) {
        for (name, shown) in world.refused {
          let answer = try await world.send(try await world.call(scope, operation.name), shown)
          found[.init(row: name, column: "every operation"), default: []].insert(
            answer.accessOutcome)
        }
      }
    }
    return found
  }

  @Test("what shows no right is refused by every operation, in every database")
  func refused() async throws {
    try await AccessWorld.with { world in
      try AccessTable("What is refused").check(try await walkRefused(world))
    }
  }

  @Test(
    "a request that comes again gets its answer again, or is to be signed anew, by every operation")
  func replayed() async throws {
    try await AccessWorld.with { world in
      var signedAnew: Set<String> = []
      for operation in world.operations {
        for scope in AccessWorld.scopes(of: operation) {
          let call = try await world.call(scope, operation.name)
          let headers = try world.key.headers(call.path(Service.container), call.body)
          let first = try await world.send(call, .init(headers: headers)).accessOutcome
          let second = try await world.send(call, .init(headers: headers)).accessOutcome
          if second == "503 TRY_AGAIN_LATER" {
            signedAnew.insert(operation.name)
          } else {
            #expect(second == first, "\(scope) \(operation.name)")
          }
        }
      }
      #expect(
        signedAnew.isSuperset(of: ["assets/upload", "subscriptions/modify", "tokens/create"]))
      let reads = world.operations.filter { $0.effect == .reads }.map(\.name)
      #expect(signedAnew.isDisjoint(with: reads + ["records/modify"]))
    }
  }

  // MARK: Operations

  private func walkOperations(_ world: AccessWorld) async throws -> Found {
    var found: Found = [:]
    let operations = world.operations
    #expect(operations.count > 20)
    for operation in operations {
      for scope in AccessWorld.scopes(of: operation) {
        for (column, ways) in world.lettingIn {
          for shown in ways {
            let answer = try await world.send(try await world.call(scope, operation.name), shown)
            let row = operation.name + " " + (scope.isEmpty ? "–" : scope)
            found[.init(row: row, column: column), default: []].insert(answer.accessOutcome)
          }
        }
      }
    }
    return found
  }

  @Test("every operation does in every database what the table says, for everybody")
  func operations() async throws {
    try await AccessWorld.with { world in
      try AccessTable("Operations", names: 2).check(try await walkOperations(world))
    }
  }

  // MARK: Holes

  @Test("where a check of credentials is missing, the walk names the cells behind it and no others")
  func holes() async throws {
    let table = try AccessTable("What is refused")
    let behind: [(AccessWorld.Hole, Set<String>)] = [
      (
        .revokedAPIToken, ["API token that was revoked", "revoked API token beside a native token"]
      ),
      (.expiredToken, ["native token that expired", "session's token that expired"]),
      (.foreignSession, ["session's token of another container"]),
      (.revokedKey, ["program's key that was revoked"]),
      (.oldDate, ["signature, ten minutes old"]),
    ]
    try await AccessWorld.with(Set(behind.map(\.0))) { world in
      let rows = table.deviations(of: try await walkRefused(world)).keys.map(\.row)
      #expect(Set(rows) == behind.reduce(into: []) { $0.formUnion($1.1) })
    }
  }

  @Test("where a program is taken for a user, the walk names what it could then do")
  func programAsUser() async throws {
    let table = try AccessTable("Operations", names: 2)
    try await AccessWorld.with([.serverKeyIsUser]) { world in
      let cells = table.deviations(of: try await walkOperations(world)).keys
      #expect(Set(cells.map(\.column)) == ["program"])
      let rows = Set(cells.map(\.row))
      #expect(rows.isSuperset(of: ["records/lookup private", "users/discover public"]))
      #expect(!rows.contains("records/query public"))
    }
  }

  @Test("a row that is missing and a cell that says otherwise are told")
  func plantedMistakes() throws {
    var table = try AccessTable("Operations", names: 2)
    var found: Found = table.expected.mapValues { [$0] }
    #expect(table.deviations(of: found).isEmpty)
    let cell = AccessTable.Cell(row: "records/lookup private", column: "program")
    table.expected[cell] = "200"
    #expect(table.deviations(of: found) == [cell: "403 ACCESS_DENIED"])
    table.expected[cell] = "403 ACCESS_DENIED"
    let new = AccessTable.Cell(row: "records/steal public", column: "nobody")
    found[new] = ["200"]
    #expect(table.deviations(of: found) == [new: "200"])
    found[new] = nil
    found[cell]?.insert("200")
    #expect(table.deviations(of: found) == [cell: "200, 403 ACCESS_DENIED"])
  }
}
