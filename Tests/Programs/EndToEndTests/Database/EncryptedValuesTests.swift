import CloudKit
import Testing

struct EncryptedValuesTests {
  @Test("They come back as such, apart from other fields, and can be changed")
  func roundTrip() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let record = CKRecord("Item", "A", ["open": "a"])
      record.encryptedValues["secret"] = "b"
      record.encryptedValues["numbers"] = [1, 2]
      try await phone.save(record)
      let fetched = try await phone.record(for: record.recordID)
      #expect(fetched.allKeys() == ["open"])
      #expect(fetched.encryptedValues.allKeys() == ["numbers", "secret"])
      #expect(fetched.encryptedValues["secret"] as? String == "b")
      #expect(fetched.encryptedValues["numbers"] as? [Int] == [1, 2])
      #expect(fetched["secret"] == nil)
      fetched.encryptedValues["secret"] = "c"
      fetched.encryptedValues["numbers"] = nil
      let saved = try await phone.save(fetched)
      #expect(saved.encryptedValues["secret"] as? String == "c")
      #expect(saved.encryptedValues.allKeys() == ["secret"])
    }
  }

  @Test("Plain and encrypted do not mix, and neither do predicates and encrypted fields")
  func refused() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let phone = anna.privateCloudDatabase
      let record = CKRecord("Item", "A")
      record.encryptedValues["secret"] = "b"
      try await phone.save(record)
      let plain = CKRecord("Item", "B", ["secret": "b"])
      let open = CKRecord("Item", "C")
      open.encryptedValues["other"] = "b"
      let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: "secret == 'b'"))
      let sorted = CKQuery(recordType: "Item", predicate: .all)
      sorted.sortDescriptors = [NSSortDescriptor(key: "secret", ascending: true)]
      let attempts: [@Sendable () async throws -> Void] = [
        { _ = try await phone.save(plain) },
        { _ = try await anna.publicCloudDatabase.save(open) },
        { _ = try await phone.records(matching: query) },
        { _ = try await phone.records(matching: sorted) },
        { _ = try await phone.subscribe(where: NSPredicate(format: "secret == 'b'")) },
      ]
      for (index, attempt) in attempts.enumerated() {
        let error = await #expect(throws: CKError.self, "attempt \(index)") {
          try await attempt()
        }
        #expect(error?.code == .invalidArguments, "attempt \(index)")
      }
    }
  }
}
