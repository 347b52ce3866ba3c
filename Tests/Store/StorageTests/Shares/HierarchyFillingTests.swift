import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct HierarchyFillingTests {
  @Test("a store of the version before gets the places of its records")
  func filling() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/store.sqlite"
      let store = try await SQLStore.open(at: path)
      let test = try await TestStore(store)
      let zone = try await test.makeZone("z")
      func save(_ name: String, below parent: String?) async throws {
        let operation = RecordOperation(
          kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone),
          recordType: "Item", parent: .some(parent.map { Reference(recordName: $0) }))
        let outcome = try await test.modify([operation], in: test.privateID)[0]
        #expect(outcome.summary == "saved")
      }
      func forgetPlaces() async throws {
        try await store.transactions.write {
          _ = try $0.connection.run("DELETE FROM hierarchy", [])
        }
      }
      for (name, parent) in [("a", nil), ("b", "a"), ("c", "b"), ("x", nil), ("y", "x")] {
        try await save(name, below: parent)
      }
      // The version before did not look for cycles, and let a parent be deleted.
      try await forgetPlaces()
      try await save("x", below: "y")
      try await save("gone", below: nil)
      try await save("orphan", below: "gone")
      try await forgetPlaces()
      _ = try await test.delete("gone", zone: zone, in: test.privateID)
      try await store.transactions.write {
        for table in [
          "hierarchy", "shares", "participants", "share_links", "share_requests", "departures",
          "mounts", "forwards",
        ] {
          try $0.connection.execute("DROP TABLE \(table)")
        }
        try Migration.set(37, over: $0.connection)
      }
      await store.close()

      let migrated = try await SQLStore.open(at: path)
      let after = try await TestStore(migrated)
      let database = after.privateID
      let places = try await migrated.transactions.read { transaction in
        let records = RecordTable(transaction: transaction)
        return try ["a", "b", "c", "x", "y", "orphan"].map { name in
          let zoneNumber = try #require(
            try ZoneTable(transaction: transaction).number(of: zone, in: database))
          let number = try #require(
            try records.number(of: name, inZone: zoneNumber, of: database))
          let place = try HierarchyTable(transaction: transaction).place(of: number, in: database)
          return try place.map {
            [
              try $0.parent.flatMap { try records.name(of: $0, in: database) },
              try records.name(of: $0.top, in: database),
            ]
          }
        }
      }
      #expect(places[0] == nil)
      #expect(places[1] == ["a", "a"])
      #expect(places[2] == ["b", "a"])
      // One of both ends the circle.
      #expect([places[3], places[4]].filter { $0 == nil }.count == 1)
      #expect(places[5] == nil)
      await migrated.close()
    }
  }
}
