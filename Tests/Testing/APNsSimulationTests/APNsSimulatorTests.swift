import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import Testing

@testable import APNsSimulation

@Suite(.timeLimit(.minutes(1)))
struct APNsSimulatorTests {
  @Test("accepts a good push, answers with its identifier, and shows it")
  func accepts() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      let response = try await sender.send(try test.request())
      #expect(response.status == 200)
      #expect(response.headers["apns-id"] == "0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90")
      #expect(response.body.isEmpty)
      let push = try #require(test.simulator.received.first)
      #expect(push.isAccepted)
      #expect(push.connection == 1)
      #expect(push.deviceToken == RequestFixture.deviceToken)
      #expect(push.headers["apns-topic"] == RequestFixture.topic)
      #expect(push.payload == #"{"aps":{"alert":"Bula"}}"#)
      #expect(test.simulator.connectionCount == 1)
      test.simulator.forgetReceived()
      #expect(test.simulator.received.isEmpty)
    }
  }

  @Test("answers a thousand pushes on one connection")
  func many() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      let request = try test.request { $0.set("apns-id", nil) }
      for _ in 0..<1000 { sender.begin(request) }
      let pushes = try await test.simulator.waitForPushes(count: 1000, within: .seconds(30))
      #expect(pushes.count == 1000)
      #expect(pushes.allSatisfy { $0.connection == 1 })
    }
  }

  @Test("writes the certificate that senders must trust, and takes up an authority made earlier")
  func authority() async throws {
    let authority = try CertificateAuthority(commonName: "Made earlier")
    try await TestSimulator.configured { configuration, _ in configuration.authority = authority }
      .run { test in
        #expect(test.simulator.authorityCertificatePEM == authority.certificatePEM)
        let written = try String(contentsOfFile: test.certificatePath, encoding: .utf8)
        #expect(written == authority.certificatePEM)
        let sender = try test.sender()
        #expect(try await sender.send(try test.request()).status == 200)
      }
  }

  @Test("gives the port back when it is stopped, and says what is wrong when it cannot start")
  func port() async throws {
    let port = try await TestSimulator.run { test in
      var configuration = APNsSimulator.Configuration()
      configuration.port = test.simulator.port
      await #expect {
        _ = try await APNsSimulator.start(configuration)
      } throws: { error in
        (error as? APNsSimulationError)?.code == .notStarted
      }
      return test.simulator.port
    }
    try await TestSimulator.configured { configuration, _ in configuration.port = port }.run {
      test in
      #expect(test.simulator.port == port)
    }
  }

  @Test("refuses file and host names that cannot be used")
  func badConfiguration() async throws {
    var configuration = APNsSimulator.Configuration()
    configuration.authorityCertificatePath = "/nowhere/at/all.pem"
    await #expect(throws: APNsSimulationError.self) {
      _ = try await APNsSimulator.start(configuration)
    }
    configuration = APNsSimulator.Configuration()
    configuration.certificateHosts = ["not a host"]
    await #expect(throws: APNsSimulationError.self) {
      _ = try await APNsSimulator.start(configuration)
    }
  }

  @Test("gives every push to those who watch, and ends their watch when it stops")
  func watching() async throws {
    let counted = try await TestSimulator.run { test in
      let first = test.simulator.watch()
      let second = test.simulator.watch(bufferingNewest: 1)
      let sender = try test.sender()
      for _ in 0..<3 { _ = try await sender.send(try test.request()) }
      _ = try await sender.send(try test.request { $0.method = "GET" })
      return Task {
        var statuses: [Int?] = []
        for await push in first { statuses.append(push.status) }
        var newest: [Int?] = []
        for await push in second { newest.append(push.status) }
        return (statuses, newest)
      }
    }
    let (statuses, newest) = await counted.value
    #expect(statuses == [200, 200, 200, 405])
    #expect(newest == [405])
  }

  @Test("keeps only as many pushes as it is told")
  func kept() async throws {
    try await TestSimulator.configured { configuration, _ in configuration.keptPushes = 2 }.run {
      test in
      let sender = try test.sender()
      for number in 0..<4 {
        _ = try await sender.send(
          try test.request { $0.set("apns-expiration", String(number)) })
      }
      #expect(test.simulator.received.map { $0.headers["apns-expiration"] } == ["2", "3"])
    }
  }

  @Test("waits for the pushes that are wanted")
  func waiting() async throws {
    try await TestSimulator.run { test in
      let simulator = test.simulator
      let sender = try test.sender()
      _ = try await sender.send(try test.request { $0.method = "GET" })
      _ = try await sender.send(try test.request())
      async let rejected = simulator.waitForPushes(count: 2, within: .seconds(20)) {
        $0.status == 405
      }
      async let accepted = simulator.waitForPushes(count: 1, within: .seconds(20))
      #expect(try await accepted.count == 1)
      _ = try await sender.send(try test.request { $0.method = "PUT" })
      #expect(try await rejected.map(\.method) == ["GET", "PUT"])
      #expect(try await simulator.waitForPushes(count: 0, within: .zero).isEmpty)
    }
  }

  @Test("says what came instead when waiting was in vain")
  func timeout() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      _ = try await sender.send(try test.request { $0.path = "/odd" })
      await #expect {
        try await test.simulator.waitForPushes(count: 2, within: .milliseconds(50))
      } throws: { error in
        guard let error = error as? APNsSimulationError else { return false }
        return error.code == .timedOut && error.reason.contains("0 of 2")
          && error.reason.contains("404 BadPath")
      }
    }
  }

  @Test("waiting ends when the simulator stops and when the task is cancelled")
  func endOfWaiting() async throws {
    let waiting = try await TestSimulator.run { test in
      let simulator = test.simulator
      let cancelled = Task {
        try await simulator.waitForPushes(count: 1, within: .seconds(50))
      }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      return Task { try await simulator.waitForPushes(count: 1, within: .seconds(50)) }
    }
    await #expect {
      try await waiting.value
    } throws: { ($0 as? APNsSimulationError)?.code == .stopped }
  }
}
