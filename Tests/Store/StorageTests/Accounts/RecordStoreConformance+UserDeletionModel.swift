import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

/// The expected contents of a public database before and after the deletion of a user.
private struct PublicModel {
  struct Entry: Equatable {
    var creator: String
    var modifier: String
    var value: Int64
    /// The record whose deletion takes this one with it, if the user who deletes it may delete this one.
    var target: String?
  }

  var records: [String: Entry] = [:]

  mutating func save(_ name: String, by user: String, value: Int64, target: String?) {
    var entry = records[name] ?? Entry(creator: user, modifier: user, value: value, target: nil)
    entry.modifier = user
    entry.value = value
    entry.target = target
    records[name] = entry
  }

  mutating func delete(_ name: String) {
    records[name] = nil
    for (holder, entry) in records where entry.target == name { delete(holder) }
  }

  /// Deletes the records of a user, and no others that refer to them.
  mutating func deleteUser(_ user: String, _ choice: UserDeletion.PublicRecords) {
    if choice == .delete { records = records.filter { $0.value.creator != user } }
    let nobody = UserIdentity.deletedUserRecordName
    for (name, entry) in records {
      if entry.creator == user { records[name]?.creator = nobody }
      if entry.modifier == user { records[name]?.modifier = nobody }
    }
  }
}

extension RecordStoreConformance {
  struct UserDeletionModel {
    private static let names = (0..<12).map { "r\($0)" }

    @Test(
      "whatever users have done, a deletion takes one of them away and leaves the others' as it was",
      arguments: StoreEngine.allCases, UserDeletion.PublicRecords.allCases)
    func random(_ engine: StoreEngine, _ choice: UserDeletion.PublicRecords) async throws {
      for seed in Seeds.some(3) {
        try await engine.withStore { test in
          var generator = SeededGenerator(seed: seed)
          var model = PublicModel()
          var users: [String] = []
          var databases: [DatabaseID] = []
          for name in ["anna", "bob", "carol"] {
            let user = try await test.store.accounts.addUser(named: name, at: TestStore.time(0))
            users.append(user.userRecordName)
            databases.append(
              try await test.store.databases.database(
                at: TestStore.address(.private, owner: user.userRecordName)))
          }
          for step in 0..<120 {
            let number = Int.random(in: 0..<3, using: &generator)
            let user = users[number]
            let name = Self.names.randomElement(using: &generator) ?? ""
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
              _ = try await test.delete(name)
              model.delete(name)
            case 1:
              _ = try await test.subscribe(noteSubscription("s\(step % 4)"), as: user)
            case 2:
              _ = try await test.store.subscriptions.modifySubscriptions(
                [.delete(subscriptionID: "s\(step % 4)")], of: user, in: test.publicID,
                refusesEqualContent: false, timestamp: TestStore.time(Int64(step)))
            case 3, 4:
              try await test.save(
                name, ["v": .int64(Int64(step))], in: databases[number], by: user,
                at: Int64(step))
            case 5:
              try await test.dispatch(at: Int64(step))
            default:
              // To an earlier one, so that there is no way in a circle.
              let target = Self.names.first { $0 < name && model.records[$0] != nil }
              try await test.save(
                name,
                [
                  "v": .int64(Int64(step)),
                  "target": target.map {
                    .reference(Reference(recordName: $0, action: .deleteSelf))
                  },
                ], by: user, at: Int64(step))
              model.save(name, by: user, value: Int64(step), target: target)
            }
          }
          try await test.dispatch(at: 130)
          #expect(try await Self.records(test) == model.records, "seed \(seed)")
          let others = try await Self.others(test, users.dropFirst(), databases.dropFirst())

          _ = try await test.store.userDeletion.beginUserDeletion(
            named: "anna", publicRecords: choice, at: TestStore.time(140))
          try await test.continueDeletions()
          try await test.dispatch(at: 150)
          #expect(try await test.continueDeletions()?.state ?? .finished == .finished)
          model.deleteUser(users[0], choice)
          #expect(try await Self.records(test) == model.records, "seed \(seed)")
          #expect(
            try await Self.others(test, users.dropFirst(), databases.dropFirst()) == others,
            "seed \(seed)")
          let traces = try await test.tables(having: [users[0]])
          #expect(traces == [], "seed \(seed): \(traces)")

          // The bytes of the database are counted as before.
          for name in model.records.keys { _ = try await test.delete(name) }
          #expect(
            try await test.store.databases.usage(of: test.publicID)?.bytes == 0, "seed \(seed)")
        }
      }
    }

    private static func records(_ test: TestStore) async throws -> [String: PublicModel.Entry] {
      var found: [String: PublicModel.Entry] = [:]
      for name in names {
        guard let record = try await test.record(name) else { continue }
        found[name] = PublicModel.Entry(
          creator: record.created?.userRecordName ?? "",
          modifier: record.modified?.userRecordName ?? "",
          value: record.fields["v"]?.integer ?? -1,
          target: record.fields["target"]?.references.first?.recordName)
      }
      return found
    }

    /// Returns the data of other users, as text.
    private static func others(
      _ test: TestStore, _ users: ArraySlice<String>, _ databases: ArraySlice<DatabaseID>
    ) async throws -> [String] {
      var found: [String] = []
      for (user, database) in zip(users, databases) {
        for name in names {
          if let record = try await test.record(name, in: database) { found.append("\(record)") }
        }
        found.append(
          "\(try await test.store.subscriptions.subscriptions(of: user, in: test.publicID))")
      }
      return found
    }
  }
}

extension RecordValue {
  fileprivate var integer: Int64? {
    if case .int64(let integer) = self { return integer }
    return nil
  }
}
