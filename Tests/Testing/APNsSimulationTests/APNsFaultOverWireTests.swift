import CloudKitModel
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import APNsSimulation

@Suite(.timeLimit(.minutes(1)))
struct APNsFaultOverWireTests {
  private let token = RequestFixture.deviceToken

  @Test("a burst of errors ends by itself, with Retry-After where asked")
  func burst() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.reject(.serviceUnavailable, retryAfter: 3).times(1))
      test.simulator.script(.reject(.internalServerError).times(1))
      test.simulator.script(.reject(.tooManyRequests).times(1), for: token)
      var answers: [String] = []
      for _ in 0..<4 {
        let response = try await sender.send(try test.request())
        answers.append("\(response.status) \(response.headers["retry-after"] ?? "-")")
      }
      #expect(answers == ["429 -", "503 3", "500 -", "200 -"])
    }
  }

  @Test("a fault for good hits one device until it is taken back")
  func forGood() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      let since = Timestamp(milliseconds: 1_700_000_000_000)
      test.simulator.script(.reject(.unregistered, timestamp: since), for: token.uppercased())
      for _ in 0..<3 {
        let response = try await sender.send(try test.request())
        #expect(
          String(decoding: response.body, as: UTF8.self)
            == #"{"reason":"Unregistered","timestamp":1700000000000}"#)
      }
      let other = try await sender.send(
        try test.request { $0.path = "/3/device/" + String(repeating: "ee", count: 32) })
      #expect(other.status == 200)
      test.simulator.endFaults(for: token)
      #expect(try await sender.send(try test.request()).status == 200)
    }
  }

  @Test("a delayed answer comes in its time")
  func delay() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.delay(seconds: 0.2).times(1))
      let clock = ContinuousClock()
      let start = clock.now
      #expect(try await sender.send(try test.request()).status == 200)
      #expect(clock.now - start >= .milliseconds(200))
    }
  }

  @Test("a stalled request stays open while others are answered")
  func stall() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.stall.times(1))
      sender.begin(try test.request())
      try await test.simulator.waitForPushes(count: 1, within: .seconds(20)) { $0.status == nil }
      #expect(try await sender.send(try test.request()).status == 200)
      // The connection shows its figures after the answer.
      try await eventually("the stream is open") { sender.connection.load.openStreams == 1 }
    }
  }

  @Test("a reset stream tells whether the request was looked at")
  func reset() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.reset(.refusedStream).times(1))
      test.simulator.script(.reset(.internalError).times(1))
      let refused = await sender.error(of: try test.request())
      #expect(refused?.peerCode == .refusedStream)
      #expect(refused?.isSafeToRepeat == true)
      let broken = await sender.error(of: try test.request())
      #expect(broken?.peerCode == .internalError)
      #expect(broken?.isSafeToRepeat == false)
      #expect(try await sender.send(try test.request()).status == 200)
    }
  }

  @Test("GOAWAY gives the request back that it hits, and lets those before it finish")
  func goAway() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.delay(seconds: 0.1).times(1))
      test.simulator.script(.goAway.times(1))
      async let before = sender.send(try test.request())
      try await test.simulator.waitForPushes(count: 1, within: .seconds(20))
      let error = await sender.error(of: try test.request())
      #expect(error?.isSafeToRepeat == true)
      #expect(try await before.status == 200)
      let last = await sender.event { event in
        if case .goingAway(let lastStream, _, _) = event { lastStream } else { nil }
      }
      #expect(last == 1)
      let next = try test.sender()
      #expect(try await next.send(try test.request()).status == 200)
    }
  }

  @Test("what was on its way behind GOAWAY can be sent again: nothing of it was accepted")
  func goAwayBeforeOthers() async throws {
    for _ in 0..<20 {
      try await TestSimulator.run { test in
        let sender = try test.sender()
        // Opens the connection, so that the others come together.
        #expect(try await sender.send(try test.request()).status == 200)
        test.simulator.script(.goAway.times(1))
        test.simulator.script(.delay(seconds: 0.01))
        let errors = Mutex<[HTTP2Error?]>([])
        for request in try (0..<20).map({ _ in try test.request() }) {
          sender.begin(request) { result in
            errors.withLock {
              if case .failure(let error) = result { $0.append(error) } else { $0.append(nil) }
            }
          }
        }
        try await eventually("each has its end") { errors.withLock(\.count) == 20 }
        #expect(errors.withLock { $0.allSatisfy { $0?.isSafeToRepeat == true } })
        #expect(test.simulator.received.filter(\.isAccepted).count == 1)
      }
    }
  }

  @Test("a connection has as many requests as it may have, then GOAWAY")
  func requestsPerConnection() async throws {
    try await TestSimulator.configured { configuration, _ in configuration.requestsPerConnection = 2
    }.run { test in
      for _ in 0..<2 {
        let sender = try test.sender()
        for _ in 0..<2 { #expect(try await sender.send(try test.request()).status == 200) }
        let error = await sender.error(of: try test.request())
        #expect(error?.isSafeToRepeat == true)
      }
      #expect(test.simulator.received.filter(\.isAccepted).count == 4)
    }
  }

  @Test("a cut connection leaves the fate of its requests open")
  func disconnect() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender()
      test.simulator.script(.disconnect.times(1))
      let error = await sender.error(of: try test.request())
      #expect(error?.isSafeToRepeat == false)
      #expect(
        await sender.event { event -> Bool? in if case .closed = event { true } else { nil } }
          == true)
    }
  }

  @Test("a frozen connection is found out by a PING")
  func freeze() async throws {
    try await TestSimulator.run { test in
      let sender = try test.sender(pingAfter: .milliseconds(200))
      test.simulator.script(.freeze.times(1))
      let error = await sender.error(of: try test.request())
      #expect(error?.code == .connectionLost)
      #expect(error?.isSafeToRepeat == false)
    }
  }

  @Test("all connections can be ended in the orderly way, with a reason, or cut")
  func ending() async throws {
    try await TestSimulator.run { test in
      let orderly = try test.sender()
      _ = try await orderly.send(try test.request())
      test.simulator.endConnections()
      let debugData = await orderly.event { event in
        if case .goingAway(_, _, let data) = event { data } else { nil }
      }
      #expect(debugData.map { String(decoding: $0, as: UTF8.self) } == #"{"reason":"Shutdown"}"#)
      let cut = try test.sender()
      _ = try await cut.send(try test.request())
      test.simulator.cutConnections()
      #expect(
        await cut.event { event -> Bool? in if case .closed = event { true } else { nil } } == true)
    }
  }

  @Test("the number of streams is what the configuration says")
  func streams() async throws {
    try await TestSimulator.configured { configuration, _ in
      configuration.maximumConcurrentStreams = 7
    }.run { test in
      let sender = try test.sender()
      let limit = await sender.event { event in
        if case .opened(let limit) = event { limit } else { nil }
      }
      #expect(limit == 7)
    }
  }

  @Test("a new connection has one stream until a request with a valid token was answered")
  func oneStream() async throws {
    try await TestSimulator.configured { configuration, _ in
      configuration.startsWithOneStream = true
      configuration.maximumConcurrentStreams = 50
    }.run { test in
      let sender = try test.sender()
      let untrusted = try await sender.send(try test.request { $0.set("authorization", nil) })
      #expect(untrusted.status == 403)
      #expect(sender.connection.load.maximumStreams == 1)
      #expect(try await sender.send(try test.request()).status == 200)
      var limits: [Int] = []
      let raised = await sender.event { event -> Bool? in
        switch event {
        case .opened(let limit):
          limits.append(limit)
          return nil
        case .limitChanged(let limit):
          limits.append(limit)
          return true
        default:
          return nil
        }
      }
      #expect(raised == true)
      #expect(limits == [1, 50])
      let next = try test.sender()
      let first = await next.event { event in
        if case .opened(let limit) = event { limit } else { nil }
      }
      #expect(first == 1)
    }
  }
}
