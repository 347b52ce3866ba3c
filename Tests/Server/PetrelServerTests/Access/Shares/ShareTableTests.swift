import CloudKitModel
import Testing

@testable import PetrelServer

/// Walks the table of shares in docs/reference/access-table.md, against servers over sockets.
struct ShareTableTests {
  typealias Found = [AccessTable.Cell: Set<String>]

  /// The cells of one column.
  private static func table(_ part: SharePart) throws -> AccessTable {
    var table = try AccessTable("Shares", names: 2)
    #expect(table.columns == SharePart.allCases.map(\.rawValue))
    table.expected = table.expected.filter { $0.key.column == part.rawValue }
    return table
  }

  /// Sends every call for one part. A call that changes its share has a place of its own.
  ///
  /// - Parameter column: the column for the outcomes; that of the part if it is nil.
  private func walk(_ part: SharePart, as column: SharePart? = nil) async throws -> Found {
    var found: Found = [:]
    try await withService { service in
      let world = try await ShareWorld(service)
      for kind in ShareKind.allCases {
        let common = SharedPlace(world, kind, part)
        try await common.make()
        for call in ShareCall.all where call.kinds.contains(kind) {
          let place = call.changesShare ? SharedPlace(world, kind, part) : common
          if call.changesShare { try await place.make(isFull: false) }
          let cell = AccessTable.Cell(
            row: "\(call.name) \(call.share)".replacing("`", with: ""),
            column: (column ?? part).rawValue)
          found[cell, default: []].insert(try await call.send(place))
        }
      }
    }
    return found
  }

  @Test("every call on a share does what the table says", arguments: SharePart.allCases)
  func calls(_ part: SharePart) async throws {
    try Self.table(part).check(try await walk(part))
  }

  @Test("where a participant may do too much, the walk names what it could then do")
  func permissionTooMany() async throws {
    let table = try Self.table(.reader)
    let rows = Set(table.deviations(of: try await walk(.writer, as: .reader)).keys.map(\.row))
    let writing = ShareCall.all.filter { $0.action == .write }
      .map { "\($0.name) \($0.share)".replacing("`", with: "") }
    #expect(writing.count > 4 && rows == Set(writing))
  }

  @Test("a share answers a stranger as one that never was")
  func strangers() async throws {
    try await withService { service in
      let world = try await ShareWorld(service)
      var compared = 0
      for kind in ShareKind.allCases {
        for call in ShareCall.all where call.kinds.contains(kind) && !call.isForLinkOnly {
          let real = SharedPlace(world, kind, .stranger)
          try await real.make(isFull: !call.changesShare)
          let missing = SharedPlace(world, kind, .stranger)
          let outcomes = (try await call.send(real), try await call.send(missing))
          #expect(outcomes.0 == outcomes.1, "\(call.name) \(kind)")
          #expect(real.answers == missing.answers, "\(call.name) \(kind)")
          compared += real.answers.count
        }
      }
      #expect(compared > 70)
    }
  }
}
