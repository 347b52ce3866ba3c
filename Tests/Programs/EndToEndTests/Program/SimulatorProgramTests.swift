import APNsSimulation
import CloudKit
import CloudKitModel
import Cryptography
import HTTP2Transport
import PushChannels
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct SimulatorProgramTests {
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-simulator-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  /// Sends pushes one after the other and answers what came of each.
  private func send(
    _ devices: [String], to simulator: SimulatorProgram
  ) async throws -> [PushAnswer] {
    func text(_ key: String) throws -> String { try #require(simulator.settings[key]?.string) }
    let pem = try String(contentsOfFile: text("keyFile"), encoding: .utf8)
    let loop = try EventLoop(name: "simulator-program-test")
    defer { loop.shutDown() }
    let client = APNsClient(
      .init(
        host: try text("host"), port: Int(try #require(simulator.settings["port"]?.int)),
        trust: .certificateFile(try text("authorityFile")), key: try ES256PrivateKey(pem: pem),
        keyID: try text("keyID"), teamID: try text("teamID")),
      loop: loop)
    var results: [PushAnswer] = []
    for device in devices {
      let push = Self.push(device)
      results.append(
        await withCheckedContinuation { continuation in
          client.send(push) { continuation.resume(returning: $0) }
        })
    }
    await client.close()
    return results
  }

  private static func push(_ device: String) -> Push {
    var info = CloudKitModel.NotificationInfo()
    info.alertBody = "New"
    let notification = SubscriptionNotification(
      database: DatabaseAddress(
        container: Cloud.container, environment: .development, scope: .public, owner: nil),
      subscriber: "_user",
      subscription: Subscription(
        subscriptionID: "s", kind: .database(recordType: nil),
        notificationInfo: info),
      change: Change(
        event: .zoneCreated, zoneID: .default, record: nil, notificationID: UUID(),
        timestamp: .now))
    return Push(
      notification, payload: PushPayload(notification, badge: nil, reader: .apns),
      deviceToken: String(repeating: device, count: 32), topic: Cloud.topic, issued: .now)
  }

  @Test("The answers of a script come in its order, those for one device beside the others")
  func script() async throws {
    try await withFolder { folder in
      let file = folder + "/bad-day.json"
      let script = """
        { "streams": 50,
          "steps": [
            { "do": "reject", "reason": "ServiceUnavailable", "retryAfter": 2, "after": 1, "times": 2 },
            { "do": "reject", "reason": "Unregistered", "device": "\(String(repeating: "dd", count: 32))",
              "timestamp": 1700000000000 },
            { "do": "answer", "status": 599, "reason": "New", "times": 1 },
            { "do": "delay", "seconds": 0.01, "times": 1 },
            { "do": "disconnect", "times": 1 },
            { "do": "reject", "reason": "TooManyRequests", "times": 1 } ] }
        """
      try script.write(toFile: file, atomically: true, encoding: .utf8)
      let simulator = try await SimulatorProgram(["--script", file], in: folder)
      let devices = ["aa", "aa", "dd", "aa", "aa", "aa", "bb", "aa", "dd", "bb"]
      let results = try await send(devices, to: simulator)
      let told = results.map { result in
        [
          result.status.map { "\($0)" } ?? "\(result.reach)", result.code,
          result.invalidSince.map { "\($0.milliseconds)" },
          result.retryAfter.map { "after \(Int($0))" },
        ].compactMap(\.self).joined(separator: " ")
      }
      #expect(
        told == [
          "200", "503 ServiceUnavailable after 2", "410 Unregistered 1700000000000",
          "503 ServiceUnavailable after 2", "599 New", "200", "unanswered", "429 TooManyRequests",
          "410 Unregistered 1700000000000", "200",
        ])
      let shown = try await simulator.accept(3)
      #expect(
        shown.map(\.status) == [200, 503, 410, 503, 599, 200, nil, 429, 410, 200])
      #expect(Set(shown.map(\.connection)).count == 2)
      try await simulator.program.kill()
    }
  }

  @Test(
    "A script with a mistake stops the start with its file, the place and the rule",
    arguments: [
      (
        "--script", "{ \"steps\": [\n  { \"do\": \"stall\" }\n  { \"do\": \"stall\" } ] }",
        "the script is not valid JSON: ',' or ']' is missing around line 3, column 3"
      ),
      (
        "--script", #"{ "steps": [ { "do": "stall" }, { "do": "reset" }, { "do": "delay" } ] }"#,
        "steps[2]: 'seconds' is missing"
      ),
      (
        "--script", #"{ "steps": [ { "do": "explode" } ] }"#,
        "steps[0]: 'explode' is not a step; the steps are answer"
      ),
      (
        "--script", #"{ "steps": [ { "do": "reject", "reason": "Nope" } ] }"#,
        "steps[0]: 'Nope' is not a reason of APNs"
      ),
      ("--script", #"{ "stream": 5 }"#, "unknown key 'stream'; known are streams"),
      (
        "--faults", "# on Mondays\n* ServiceUnavailable x3\n* Nope x2\n",
        "line 3: 'Nope' is neither a reason of APNs"
      ),
    ])
  func mistake(option: String, text: String, complaint: String) async throws {
    try await withFolder { folder in
      try text.write(toFile: folder + "/bad-day", atomically: true, encoding: .utf8)
      let program = try Program(
        "petrel", ["simulate-apns", "--data", folder, "--port", "0", option, "bad-day"],
        in: folder)
      #expect(try await program.end() == 64)
      #expect(
        program.output.hasPrefix("petrel: simulate-apns: bad-day: \(complaint)"),
        "\(program.output)")
      #expect(!program.output.contains("listens"))
    }
  }

  @Test("A script that is not there stops the start")
  func missing() async throws {
    try await withFolder { folder in
      let program = try Program(
        "petrel", ["simulate-apns", "--data", folder, "--port", "0", "--script", "none.json"],
        in: folder)
      #expect(try await program.end() == 64)
      #expect(
        program.output.contains("cannot read none.json: No such file or directory"),
        "\(program.output)")
    }
  }
}
