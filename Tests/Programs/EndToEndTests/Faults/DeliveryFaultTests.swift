import APNsSimulation
import CloudKit
import Testing
import Waiting

/// APNs' bad days, from the save to the last answer.
struct DeliveryFaultTests {
  struct Day: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var steps: String
    /// Whether a push may be accepted although its sender cannot know.
    var leavesDoubt = false
  }

  static let days = [
    Day(testDescription: "none", steps: ""),
    Day(
      testDescription: "503, once with Retry-After",
      steps: """
        { "do": "reject", "reason": "ServiceUnavailable", "after": 5, "times": 2 },
        { "do": "reject", "reason": "ServiceUnavailable", "retryAfter": 1, "after": 9, "times": 1 }
        """),
    Day(
      testDescription: "500 for some",
      steps: #"{ "do": "reject", "reason": "InternalServerError", "after": 3, "times": 10 }"#),
    Day(
      testDescription: "GOAWAY in the middle, twice",
      steps: """
        { "do": "goAway", "gathers": 4, "answers": 2, "reason": "Shutdown", "after": 3 },
        { "do": "goAway", "gathers": 3, "answers": 0, "after": 10 }
        """),
    Day(
      testDescription: "refused streams",
      steps: #"{ "do": "reset", "code": "REFUSED_STREAM", "after": 4, "times": 8 }"#),
    Day(
      testDescription: "broken streams",
      steps: #"{ "do": "reset", "after": 4, "times": 8 }"#, leavesDoubt: true),
    Day(
      testDescription: "broken connections",
      steps: """
        { "do": "disconnect", "after": 2, "times": 1 },
        { "do": "disconnect", "after": 12, "times": 1 }
        """, leavesDoubt: true),
    Day(
      testDescription: "another stream limit, then late answers",
      steps: """
        { "do": "set", "streams": 2, "after": 5 },
        { "do": "delay", "seconds": 0.05, "times": 10 }
        """),
    Day(
      testDescription: "a device that gets too many",
      steps: #"{ "do": "reject", "reason": "TooManyRequests", "retryAfter": 1, "times": 2 }"#),
  ]

  @Test(
    "what APNs accepted in the end is what was owed, and each push has its outcome",
    arguments: days)
  func accepted(_ day: Day) async throws {
    try await Cloud.run { cloud in
      let devices = ["phone", "tablet", "watch"]
      for device in devices { try await cloud.registeredContainer(of: "anna", device: device) }
      let database = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await database.subscribe(where: .all, info: .init(alertBody: "New"))
      let simulator = await cloud.simulator
      let script = try SimulatorScript(parsing: #"{ "steps": [\#(day.steps)] }"#)
      for step in script.faults { simulator.script(step.fault, for: step.deviceToken) }
      let names = (0..<12).map { "item-\($0)" }
      for name in names { try await database.add("Item", name) }
      let store = await cloud.store
      try await eventually("each delivery has its outcome") {
        let isDispatched = try await store.outbox.undispatchedDatabases().isEmpty
        let isDelivered = try await store.deliveries.owedDeliveryCount() == 0
        return isDispatched && isDelivered
      }
      let accepted = simulator.received.filter(\.isAccepted)
      let owed = Set(
        devices.flatMap { device in
          names.map { Cloud.deviceTokenText(of: "anna", device: device) + " " + $0 }
        })
      #expect(Set(accepted.map(Self.name)) == owed)
      // One apns-id for each, however often it was sent.
      let identifiers = Dictionary(grouping: simulator.received, by: Self.name)
        .mapValues { Set($0.compactMap { $0.headers["apns-id"] }) }
      #expect(identifiers.values.allSatisfy { $0.count == 1 })
      #expect(Set(identifiers.values.flatMap(\.self)).count == owed.count)
      if !day.leavesDoubt { #expect(accepted.count == owed.count) }
      let metrics = await cloud.server.deliveryMetrics
      #expect(metrics.delivered == owed.count)
      #expect(metrics.abandoned + metrics.expired + metrics.merged + metrics.refused == 0)
    }
  }

  private static func name(of push: ReceivedPush) -> String {
    (push.deviceToken ?? "") + " " + (push.recordName ?? "")
  }
}
