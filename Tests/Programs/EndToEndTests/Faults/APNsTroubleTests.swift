import APNsSimulation
import CloudKit
import Testing
import Waiting

struct APNsTroubleTests {
  struct Trouble: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var fault: APNsFault

    init(_ name: String, _ fault: APNsFault) {
      testDescription = name
      self.fault = fault
    }
  }

  static let troubles = [
    Trouble("503", .reject(.serviceUnavailable).times(1)),
    Trouble("500", .reject(.internalServerError).times(1)),
    Trouble("503 Shutdown", .reject(.shutdown).times(1)),
    Trouble("503 with Retry-After", .reject(.serviceUnavailable, retryAfter: 1).times(1)),
    Trouble("GOAWAY", .goAway.times(1)),
    Trouble("refused stream", .reset(.refusedStream).times(1)),
    Trouble("broken stream", .reset(.internalError).times(1)),
    Trouble("cut connection", .disconnect.times(1)),
  ]

  @Test(
    "A push that met trouble is delivered in the end, with the same apns-id", arguments: troubles)
  func transient(_ trouble: Trouble) async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let simulator = await cloud.simulator
      simulator.script(trouble.fault)
      try await laptop.add("Item", "A")
      try await cloud.pushes()
      #expect(simulator.received.contains { !$0.isAccepted })
      #expect(Set(simulator.received.compactMap { $0.headers["apns-id"] }).count == 1)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created A"])
    }
  }

  @Test("A push for a device that gets too many is tried again later, not at once")
  func tooManyRequests() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let simulator = await cloud.simulator
      simulator.script(.reject(.tooManyRequests, retryAfter: 1).times(1))
      try await laptop.add("Item", "A")
      let pushes = try await cloud.pushes()
      let refused = try #require(simulator.received.first { $0.status == 429 })
      #expect(pushes[0].headers["apns-id"] == refused.headers["apns-id"])
      #expect(pushes[0].time.seconds - refused.time.seconds >= 1)
    }
  }

  @Test(
    "A device token that APNs does not know is dropped; other devices go on getting pushes",
    arguments: [APNsReason.unregistered, .expiredToken, .badDeviceToken])
  func unknownToken(_ reason: APNsReason) async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      try await cloud.registeredContainer(of: "anna", device: "tablet")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let simulator = await cloud.simulator
      let token = Cloud.deviceTokenText(of: "anna", device: "phone")
      simulator.script(
        reason == .badDeviceToken ? .reject(reason) : .reject(reason, timestamp: .now), for: token)
      let store = await cloud.store
      let anna = try #require(try await store.accounts.user(named: "anna")).userRecordName
      try await laptop.add("Item", "A")
      try await eventually("the token is dropped") {
        try await !store.devices.deviceTokens(of: anna).contains { $0.token == token }
      }
      simulator.endFaults(for: token)
      try await laptop.add("Item", "B")
      try await cloud.pushes(2, device: "tablet")
      let pushes = try await cloud.settledPushes()
      let tablet = Cloud.deviceTokenText(of: "anna", device: "tablet")
      #expect(pushes.filter { $0.deviceToken == tablet }.count == 2)
      #expect(!pushes.contains { $0.deviceToken == token })
    }
  }

  @Test("A device that registers again after its token was dropped gets pushes again")
  func registeringAgain() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let token = Cloud.deviceTokenText(of: "anna", device: "phone")
      let store = await cloud.store
      let anna = try #require(try await store.accounts.user(named: "anna")).userRecordName
      await cloud.simulator.script(.reject(.unregistered, timestamp: .now).times(1), for: token)
      try await laptop.add("Item", "A")
      try await eventually("the token is dropped") {
        try await store.devices.deviceTokens(of: anna).isEmpty
      }
      try await cloud.registeredContainer(of: "anna", device: "phone")
      try await laptop.add("Item", "B")
      #expect(try await cloud.pushes().compactMap(\.event) == ["created B"])
    }
  }
}
