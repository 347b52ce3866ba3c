import APNsSimulation
import CloudKit
import CloudKitModel
import StoreModel
import Testing

struct RestartTests {
  @Test("A change that was committed and never dispatched is pushed after the start, once")
  func undispatched() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      await cloud.stopServer()
      let store = await cloud.store
      store.outbox.setCommitHandler(nil)
      let anna = try #require(try await store.accounts.user(named: "anna")).userRecordName
      let database = try await store.databases.database(
        at: DatabaseAddress(
          container: Cloud.container, environment: .development, scope: .private, owner: anna))
      let outcomes = try await store.records.modifyRecords(
        RecordModification(
          database: database,
          operations: [
            RecordOperation(
              kind: .create,
              recordID: RecordID(recordName: "A", zoneID: ZoneID(zoneName: "_defaultZone")),
              recordType: "Item")
          ], isAtomic: false,
          origin: ChangeOrigin(userRecordName: anna, deviceID: "anna-laptop"),
          isByAdministrator: true, timestamp: .now))
      #expect(outcomes.count == 1)
      #expect(try await store.outbox.undispatchedDatabases() == [database])
      #expect(await cloud.simulator.received.isEmpty)
      try await cloud.startServer()
      try await cloud.pushes()
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created A"])
    }
  }

  @Test("What was pushed before a restart is not pushed again after it")
  func notAgain() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      try await laptop.add("Item", "A")
      try await cloud.pushes()
      await cloud.stopServer()
      try await cloud.startServer()
      try await laptop.add("Item", "B")
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created A", "created B"])
    }
  }

  @Test("A push that found APNs gone is sent after a restart, with one apns-id")
  func apnsGone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let simulator = await cloud.simulator
      simulator.script(.reject(.serviceUnavailable))
      try await laptop.add("Item", "A")
      let refused = try await simulator.waitForPushes(count: 1, within: Cloud.patience) {
        $0.status == 503
      }
      await cloud.stopSimulator()
      await cloud.stopServer()
      try await cloud.startServer()
      try await cloud.startSimulator()
      let delivered = try await cloud.pushes()
      #expect(delivered[0].headers["apns-id"] == refused[0].headers["apns-id"])
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created A"])
    }
  }
}
