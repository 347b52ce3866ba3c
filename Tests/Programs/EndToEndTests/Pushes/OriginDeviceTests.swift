import CloudKit
import Testing

struct OriginDeviceTests {
  @Test("Of a user's two devices the one that saved gets nothing, the other gets the push")
  func otherDevice() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      let tablet = try await cloud.registeredContainer(of: "anna", device: "tablet")
        .privateCloudDatabase
      try await phone.subscribe(
        where: .all,
        options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
      let record = try await phone.add("Item", "A")
      record["n"] = 1
      try await phone.save(record)
      try await phone.deleteRecord(withID: record.recordID)
      try await tablet.add("Item", "B")
      let pushes = try await cloud.settledPushes()
      let byPhone = pushes.filter {
        $0.deviceToken == Cloud.deviceTokenText(of: "anna", device: "phone")
      }
      let byTablet = pushes.filter {
        $0.deviceToken == Cloud.deviceTokenText(of: "anna", device: "tablet")
      }
      #expect(byPhone.compactMap(\.event) == ["created B"])
      #expect(byTablet.compactMap(\.event).sorted() == ["created A", "deleted A", "updated A"])
    }
  }

  @Test("In the public database another user's device with the same name gets the push")
  func otherUser() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.registeredContainer(of: "anna", device: "phone")
        .publicCloudDatabase
      let ben = try await cloud.registeredContainer(of: "ben", device: "phone")
        .publicCloudDatabase
      try await anna.subscribe(where: .all)
      try await ben.subscribe(where: .all)
      try await anna.add("Item", "A")
      let pushes = try await cloud.settledPushes(in: .public)
      #expect(
        pushes.map(\.deviceToken) == [Cloud.deviceTokenText(of: "ben", device: "phone")])
    }
  }

  @Test("A container can be set up so that the saving device gets its pushes too")
  func included() async throws {
    try await Cloud.run(settings: .init(excludesOriginDevice: false)) { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      try await phone.subscribe(where: .all)
      try await phone.add("Item", "A")
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created A"])
    }
  }
}
