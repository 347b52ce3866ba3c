import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// Tests of the traces of a deleted user in the files of a store.
struct ErasureTests {
  /// Returns the texts that occur in any file of a folder, each with the file's name.
  private static func files(in folder: String, having markers: [String]) throws -> Set<String> {
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    var found: Set<String> = []
    for case let file as String in files {
      guard let data = FileManager.default.contents(atPath: folder + "/" + file) else { continue }
      for marker in markers where data.range(of: Data(marker.utf8)) != nil {
        found.insert("\(file): \(marker)")
      }
    }
    return found
  }

  @Test(
    "nothing of a deleted user is in any file of the store, whatever was overwritten before",
    arguments: UserDeletion.PublicRecords.allCases, [false, true])
  func files(_ publicRecords: UserDeletion.PublicRecords, filesAtOnce: Bool) async throws {
    try await withTemporaryDirectory { directory in
      var configuration = StoreSample.configuration(.server)
      // Entries of the notification log wait in memory, or nearly not.
      if filesAtOnce { configuration.tuning.unfiledNotifications = 1 }
      let store = try await Store.open(
        at: directory + "/store.sqlite", configuration: configuration)
      let test = try await TestStore(store)
      let user = try await UserWithEverything.make(
        in: test, isMarkedInPublic: publicRecords == .delete)
      // What others have makes pages split and rows move.
      for start in stride(from: 0, to: 600, by: 100) {
        _ = try await test.modify(
          (start..<start + 100).map {
            RecordOperation(
              kind: .create, recordID: RecordID(recordName: "other\($0)"), recordType: "Note",
              fields: ["title": .string(String(repeating: "other", count: $0 % 90))])
          })
        try await test.dispatch(at: 17)
      }
      #expect(try Self.files(in: directory, having: user.markers).count > user.markers.count)
      _ = try await store.userDeletion.beginUserDeletion(
        named: UserWithEverything.account, publicRecords: publicRecords, at: TestStore.time(50))
      try await test.continueDeletions()
      try await test.dispatchAll(at: 60)
      #expect(try await test.continueDeletions()?.state == .finished)
      // What waited in memory comes into the index of the notification log by now.
      try await store.maintenance.trim(at: TestStore.time(61))
      #expect((store.tail?.count ?? 0) == 0)
      let left = try Self.files(in: directory, having: user.markers)
      #expect(left == [], "\(left)")
      #expect(try await test.record("other599") != nil)
      await store.close()
      #expect(try Self.files(in: directory, having: user.markers) == [])
    }
  }

  @Test("erasing waits for who reads from the log, and is not done twice")
  func readers() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/store.sqlite"
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      let test = try await TestStore(store)
      _ = try await store.accounts.addUser(named: "anna", at: TestStore.time(1))
      _ = try await store.userDeletion.beginUserDeletion(
        named: "anna", publicRecords: .keep, at: TestStore.time(2))
      let reader = try SQLiteConnection(path: path)
      defer { reader.close() }
      try reader.beginReading()
      _ = try reader.first("SELECT COUNT(*) FROM users", []) { $0.integer(0) }
      let waiting = try await test.continueDeletions()
      #expect(waiting?.stage == .erasure && waiting?.state == .waiting)
      try reader.commit()
      #expect(try await test.continueDeletions()?.state == .finished)
      #expect(try StoreSample.size(path + "-wal") < 100_000)
      await store.close()
    }
  }

  @Test("a store whose log was erased goes on, and passes its examination")
  func goesOn() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/store.sqlite"
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      try await StoreSample.fill(store)
      var before: [StoreSample.Reading: String] = [:]
      for reading in StoreSample.Reading.allCases {
        before[reading] = try await StoreSample.read(reading, from: store)
      }
      #expect(try await store.transactions.eraseLog())
      #expect(try StoreSample.size(path + "-wal") == 0)
      for reading in StoreSample.Reading.allCases {
        #expect(try await StoreSample.read(reading, from: store) == before[reading])
      }
      let test = try await TestStore(store)
      try await test.save("later")
      await store.close()
      try StoreInspection(ofStoreAt: path, within: .seconds(60)).check()
      let again = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      #expect(try await TestStore(again).record("later") != nil)
      await again.close()
    }
  }
}
