import CloudKitModel
import Foundation
import RepositoryFiles
import Testing
import WebServices

@testable import DatabaseAPI

/// Holds docs/reference/access-table.md to ``AccessPolicy``. That a server does what the page says is what ``AccessTableTests`` and
/// ``GrantTableTests`` and ``ShareTableTests`` look at, over a socket.
///
/// `PETREL_WRITE_PAGES=1 make test ONLY=PetrelServerTests.AccessPageTests` writes what the policy decides.
@Suite(.serialized)
struct AccessPageTests {
  private static let alice = Caller.user(userRecordName: "_alice")
  private static let program = Caller.serverKey(keyID: "key", userRecordName: "_program")

  /// The word of the page for a refusal.
  private static func word(_ refusal: ServiceError) throws -> String {
    let outcome = "\(refusal.code.httpStatus) \(refusal.code.rawValue)"
    return try #require(AccessTable.words.first { $0.value == outcome }?.key, "\(outcome)")
  }

  /// The page with other rows in the table below a heading.
  private static func page(_ heading: String, _ rows: [[String]]) throws -> String {
    let page = try RepositoryFile.text("docs/reference/access-table.md")
    let section = try #require(page.range(of: "\n## \(heading)\n")).upperBound
    let line = try #require(page[section...].range(of: "| --- |\n"))
    let end = page[line.upperBound...].range(of: "\n\n")?.lowerBound ?? page.endIndex
    let text = rows.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    return page.replacingCharacters(in: line.upperBound..<end, with: text)
  }

  /// Holds the rows of a table to those that the policy gives, or writes them.
  static func check(_ heading: String, _ rows: [[String]]) throws {
    let page = try page(heading, rows)
    guard try page != RepositoryFile.text("docs/reference/access-table.md") else { return }
    guard ProcessInfo.processInfo.environment["PETREL_WRITE_PAGES"] != nil else {
      Issue.record("docs/reference/access-table.md, \(heading): the policy decides otherwise")
      return
    }
    try page.write(
      to: RepositoryFile.url("docs/reference/access-table.md"), atomically: true, encoding: .utf8)
  }

  /// A permitted request has its effect: such a cell contains the answer to the request of the
  /// walk.
  @Test("the page has the refusals of the policy for each operation, and no others of their kind")
  func operations() async throws {
    let table = try AccessTable("Operations", names: 2)
    let answered = Set([
      "ok", "none", "absent", "no share", "no zone", "no such zone", "others' zones",
    ])
    try await AccessWorld.with { world in
      var rows: [[String]] = []
      for operation in world.operations {
        for scope in AccessWorld.scopes(of: operation) {
          let place = scope.isEmpty ? "–" : scope
          var row = ["`\(operation.name)`", place]
          for (column, caller) in [
            ("nobody", Caller.anonymous), ("web app", .anonymous), ("user", Self.alice),
            ("program", Self.program),
          ] {
            if let refusal = AccessPolicy.refusal(
              of: caller, calling: operation, in: DatabaseScope(pathComponent: scope))
            {
              row.append(try Self.word(refusal))
            } else {
              let cell = AccessTable.Cell(row: "\(operation.name) \(place)", column: column)
              let outcome = table.expected[cell]
              let word = AccessTable.words.first { $0.value == outcome }?.key
              row.append(word.flatMap { answered.contains($0) ? $0 : nil } ?? "ok")
            }
          }
          rows.append(row)
        }
      }
      try Self.check("Operations", rows)
    }
  }

  @Test("the page has what the policy lets each role do")
  func grants() throws {
    var record = Record(recordID: RecordID(recordName: "A"), recordType: "Note")
    record.created = Record.Stamp(
      timestamp: Timestamp(milliseconds: 0), userRecordName: "_alice", deviceID: nil)
    let everybody = RecordGrants.SystemRole.world
    let signedIn: Set = [everybody, RecordGrants.SystemRole.icloud]
    let callers: [(Caller, Set<String>)] = [
      (.anonymous, [everybody]), (Self.alice, signedIn),
      (.user(userRecordName: "_bob"), signedIn),
      (.user(userRecordName: "_dora"), signedIn.union(["Editor"])), (Self.program, signedIn),
    ]
    var rows: [[String]] = []
    for (permission, name) in [
      (RecordPermissions.read, "READ"), (.create, "CREATE"), (.write, "WRITE"),
    ] {
      for role in [nil, "_world", "_icloud", "_creator", "Editor"] {
        let grants = RecordGrants(role.map { [$0: permission] } ?? [:])
        let cells = callers.map { caller, roles in
          let access = AccessPolicy.access(of: caller, roles: roles, under: grants)
          let refusal =
            switch permission {
            case .read: access.refusal(ofReading: record)
            case .create: access.refusal(ofCreating: "Note")
            default: access.refusal(ofWriting: record)
            }
          if caller == .anonymous, refusal != nil || permission != .read { return "sign in" }
          return refusal == nil ? "ok" : "no"
        }
        rows.append([name, role.map { "`\($0)`" } ?? "nobody"] + cells)
      }
    }
    try Self.check("Roles and permissions", rows)
  }
}
