import CloudKit
import Foundation
import PetrelTesting
import SyncDevices
import Synchronization
import Testing
import Waiting

/// The account of a sync engine, its state from one process to the next, and its end.
struct SyncEngineLifeTests {
  private typealias Change = CKSyncEngine.Event.AccountChange.ChangeType

  private let cloud: TestCloud

  init() async throws { cloud = try await TestCloud() }

  private func device(_ user: String? = "anna", _ name: String = "phone") -> SyncDevice {
    SyncDevice(cloud.container(user: user, device: name).privateCloudDatabase)
  }

  private func accountChanges(of device: SyncDevice) -> [Change] {
    device.events.compactMap {
      if case .accountChange(let event) = $0 { event.changeType } else { nil }
    }
  }

  @Test("who signed out or was replaced is reported once, and what was pending is gone")
  func accounts() async throws {
    let anna = device()
    anna.start()
    anna.edit(["a": "1"])
    try await anna.engine.sendChanges()
    anna.edit(["a": "2"])
    let user = try await cloud.container(user: "anna").userRecordID()
    let other = try await cloud.container(user: "ben").userRecordID()
    #expect(accountChanges(of: anna) == [.signIn(currentUser: user)])
    try await eventually("the change is stored") {
      guard let stored = anna.state.withLock({ $0.stored }) else { return false }
      return try String(decoding: JSONEncoder().encode(stored), as: UTF8.self).contains("\"a\"")
    }
    for (name, expected) in [
      (nil, Change.signOut(previousUser: user)),
      ("ben", .switchAccounts(previousUser: user, currentUser: other)),
    ] as [(String?, Change)] {
      let next = device(name)
      next.state.withLock { [stored = anna.state.withLock(\.stored)] in $0.stored = stored }
      next.start()
      #expect(next.engine.state.pendingRecordZoneChanges == [.saveRecord(next.id("a"))])
      next.onEvent.withLock {
        $0 = { [id = next.id("new")] event, engine in
          guard case .accountChange = event else { return }
          engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
      }
      let error = await syncError { try await next.engine.fetchChanges() }
      #expect(error?.code == (name == nil ? .notAuthenticated : nil))
      #expect(accountChanges(of: next) == [expected])
      #expect(next.engine.state.pendingRecordZoneChanges == [.saveRecord(next.id("new"))])
      if name == nil { #expect(next.eventNames == ["accountChange"]) }
    }
  }

  @Test("a network that fails before the account is known is no change of the account")
  func unknownAccount() async throws {
    let device = device()
    device.start()
    cloud.fail(next: .networkLoss, operation: .fetchUser)
    let error = await syncError { try await device.engine.sendChanges() }
    #expect(error?.code == .networkUnavailable && device.eventNames.isEmpty)
  }

  @Test("an engine that does not work by itself sends no request before a call")
  func manual() async throws {
    cloud.fail(next: .networkLoss)
    let device = device()
    device.start()
    device.edit(["a": "1"])
    await cloud.settle()
    #expect(cloud.waitingFaults == 1)
  }

  @Test("a serialization is the same through JSON and a property list; another form is refused")
  func coding() async throws {
    let device = device()
    device.start()
    device.edit(["a": "1"])
    try await device.engine.sendChanges()
    device.edit(["b": "2"])
    device.delete("a")
    device.engine.state.add(pendingDatabaseChanges: [
      .deleteZone(CKRecordZone.ID(zoneName: "old", ownerName: "_someone"))
    ])
    try await eventually("the state is stored") {
      guard let stored = device.state.withLock({ $0.stored }) else { return false }
      return try String(decoding: JSONEncoder().encode(stored), as: UTF8.self).contains("old")
    }
    let stored = try #require(device.state.withLock { $0.stored })
    let json = try JSONEncoder().encode(stored)
    let list = try PropertyListEncoder().encode(stored)
    for decoded in [
      try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json),
      try PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: list),
    ] {
      let next = self.device()
      next.state.withLock { $0.stored = decoded }
      let engine = next.start()
      #expect(
        engine.state.pendingRecordZoneChanges
          == [.saveRecord(next.id("b")), .deleteRecord(next.id("a"))])
      #expect(engine.state.pendingDatabaseChanges == device.engine.state.pendingDatabaseChanges)
      try await engine.fetchChanges()
      #expect(!next.eventNames.contains("accountChange"))
    }
    for damaged in [
      "{}", "[]",
      String(decoding: json, as: UTF8.self).replacingOccurrences(
        of: #""version":1"#, with: #""version":2"#),
    ] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(
          CKSyncEngine.State.Serialization.self, from: Data(damaged.utf8))
      }
    }
    let shared = SyncDevice(cloud.container(user: "anna", device: "x").sharedCloudDatabase)
    shared.state.withLock { $0.stored = stored }
    #expect(shared.start().state.pendingRecordZoneChanges.isEmpty)
  }

  @Test("a thousand changes give a few updates of the state, the last one with all of them")
  func updates() async throws {
    let device = device()
    device.start()
    try await device.engine.sendChanges()
    device.clear()
    for number in 0..<1_000 { device.edit(["n\(number)": "t"]) }
    try await eventually("the last update has all") {
      guard let stored = device.state.withLock({ $0.stored }) else { return false }
      let next = self.device()
      next.state.withLock { $0.stored = stored }
      return next.start().state.pendingRecordZoneChanges.count == 1_000
    }
    #expect(device.events.count < 100)
  }

  @Test("to wait for the engine in a delegate's method is refused; a task of the method may")
  func waitingForItself() async throws {
    let device = device()
    device.start()
    let errors = Mutex<[CKError.Code?]>([])
    let task = Mutex<Task<CKError?, Never>?>(nil)
    device.onEvent.withLock {
      $0 = { event, engine in
        guard case .willFetchChanges = event else { return }
        guard task.withLock({ $0 == nil }) else { return }
        for wait in [
          { try await engine.sendChanges() }, { try await engine.fetchChanges() },
        ] as [@Sendable () async throws -> Void] {
          let error = await syncError(wait)
          errors.withLock { $0.append(error?.code) }
        }
        await engine.cancelOperations()
        task.withLock { $0 = Task { await syncError { try await engine.sendChanges() } } }
      }
    }
    let cancelled = await syncError { try await device.engine.fetchChanges() }
    #expect(cancelled?.code == .operationCancelled)
    #expect(errors.withLock { $0 } == [.internalError, .internalError])
    #expect(await task.withLock { $0 }?.value == nil)
    #expect(device.eventNames.last == "didSendChanges")
  }

  @Test("cancelled work ends with its event; the change stays, and later work goes on")
  func cancellation() async throws {
    let device = device()
    device.start()
    try await device.engine.sendChanges()
    device.edit(["a": "1"])
    device.clear()
    for byTask in [true, false] {
      let send = Mutex<Task<CKError?, Never>?>(nil)
      device.onEvent.withLock {
        $0 = { event, engine in
          guard case .willSendChanges = event, let task = send.withLock({ $0 }) else { return }
          if byTask { task.cancel() } else { await engine.cancelOperations() }
        }
      }
      let task = send.withLock { send in
        let task = Task { await syncError { try await device.engine.sendChanges() } }
        send = task
        return task
      }
      #expect(await task.value?.code == .operationCancelled)
      send.withLock { $0 = nil }
      #expect(device.eventNames == ["willSendChanges", "didSendChanges"])
      #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(device.id("a"))])
      device.clear()
    }
    try await device.engine.sendChanges()
    #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
  }

  @Test("an engine that nobody holds ends, and so does one whose delegate is gone")
  func release() async throws {
    weak var engine: CKSyncEngine?
    let device = device()
    for isAutomatic in [false, true] {
      device.start(automatically: isAutomatic)
      engine = device.engine
      try await device.engine.fetchChanges()
      device.state.withLock { $0.engine = nil }
      try await eventually("the engine is gone") { engine == nil }
    }
    var other: SyncDevice? = self.device("anna", "other")
    let kept = try #require(other?.start())
    other?.state.withLock { $0.engine = nil }
    other = nil
    let error = await syncError { try await kept.fetchChanges() }
    #expect(error?.code == .operationCancelled)
  }

  @Test("no description has a field's value")
  func descriptions() async throws {
    let device = device()
    device.start()
    device.edit(["a": "secret"])
    try await device.engine.sendChanges()
    device.edit(["a": "secret2"])
    try await device.engine.fetchChanges()
    #expect(!device.events.isEmpty)
    for event in device.events { #expect(!"\(event)".contains("secret")) }
  }
}
