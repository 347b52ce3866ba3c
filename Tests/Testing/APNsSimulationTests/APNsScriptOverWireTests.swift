import CloudKitModel
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import APNsSimulation

@Suite(.timeLimit(.minutes(1)))
struct APNsScriptOverWireTests {
  private func run(
    _ script: String, _ body: (TestSimulator) async throws -> Void
  ) async throws {
    let script = try SimulatorScript(parsing: script)
    try await TestSimulator.configured { configuration, _ in script.apply(to: &configuration) }
      .run(body)
  }

  private func error(_ sender: TestSender) async -> HTTP2Error? {
    let ending = await sender.event { event -> HTTP2Error?? in
      if case .closed(let error) = event { .some(error) } else { nil }
    }
    return ending ?? nil
  }

  @Test("a fault leaves those requests alone that it is to let pass")
  func passes() async throws {
    try await run(
      """
      {"steps": [{"do": "reject", "reason": "InternalServerError", "after": 2, "times": 1},
                 {"do": "answer", "status": 599, "after": 1, "times": 1}]}
      """
    ) { test in
      let sender = try test.sender()
      var statuses: [Int] = []
      for _ in 0..<6 { statuses.append(try await sender.send(try test.request()).status) }
      #expect(statuses == [200, 200, 500, 200, 599, 200])
    }
  }

  @Test("the number of streams changes in the middle, for connections to come too")
  func streams() async throws {
    try await run(#"{"streams": 9, "steps": [{"do": "set", "streams": 3, "after": 2}]}"#) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      #expect(sender.connection.load.maximumStreams == 9)
      #expect(try await sender.send(try test.request()).status == 200)
      try await eventually("the limit falls") { sender.connection.load.maximumStreams == 3 }
      let next = try test.sender()
      #expect(try await next.send(try test.request()).status == 200)
      #expect(next.connection.load.maximumStreams == 3)
    }
  }

  @Test("where a connection has to be trusted first it gets the new number of streams then")
  func streamsWhenTrusted() async throws {
    try await run(
      #"{"streams": 9, "oneStreamFirst": true, "steps": [{"do": "set", "streams": 3, "after": 1}]}"#
    ) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      try await eventually("the limit is the new one") {
        sender.connection.load.maximumStreams == 3
      }
      let next = try test.sender()
      let first = await next.event { event in
        if case .opened(let limit) = event { limit } else { nil }
      }
      #expect(first == 1)
      #expect(try await next.send(try test.request()).status == 200)
      try await eventually("the limit is raised") { next.connection.load.maximumStreams == 3 }
    }
  }

  @Test("GOAWAY in the middle answers the first and gives the others back")
  func goAway() async throws {
    try await run(
      #"{"steps": [{"do": "goAway", "gathers": 10, "answers": 4, "reason": "Shutdown", "after": 1}]}"#
    ) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      let outcomes = Mutex<[Result<HTTP2Response, HTTP2Error>]>([])
      for _ in 0..<10 {
        sender.begin(try test.request()) { outcome in outcomes.withLock { $0.append(outcome) } }
      }
      try await eventually("each has its end") { outcomes.withLock(\.count) == 10 }
      let (answers, errors) = outcomes.withLock { outcomes in
        (
          outcomes.compactMap { try? $0.get().status },
          outcomes.compactMap { outcome -> HTTP2Error? in
            if case .failure(let error) = outcome { error } else { nil }
          }
        )
      }
      #expect(answers == [200, 200, 200, 200])
      #expect(errors.count == 6 && errors.allSatisfy(\.isSafeToRepeat))
      #expect(test.simulator.received.filter(\.isAccepted).count == 5)
      let goAway = await sender.event { event in
        if case .goingAway(let last, _, let data) = event { (last, data) } else { nil }
      }
      #expect(goAway?.0 == 9)
      #expect(goAway.map { String(decoding: $0.1, as: UTF8.self) } == #"{"reason":"Shutdown"}"#)
    }
  }

  @Test("GOAWAY does not wait for ever for the requests that it gathers")
  func impatientGoAway() async throws {
    try await run(
      #"{"steps": [{"do": "goAway", "gathers": 10, "answers": 1, "patience": 0.05}]}"#
    ) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      #expect(await error(sender) == nil)
      #expect(try await test.sender().send(try test.request()).status == 200)
    }
  }

  @Test("a token that was expired stays so until there is a newer one")
  func expiredTokens() async throws {
    try await run(#"{"steps": [{"do": "expireTokens", "after": 1}]}"#) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      for _ in 0..<2 {
        let answer = try await sender.send(try test.request())
        #expect(String(decoding: answer.body, as: UTF8.self).contains("ExpiredProviderToken"))
      }
      #expect(try await test.sender().send(try test.request()).status == 403)
      let later = try test.fixture.providerToken(issued: Timestamp.now.advanced(bySeconds: 5))
      let request = try test.request { $0.set("authorization", "bearer \(later)") }
      #expect(try await test.sender().send(request).status == 200)
    }
  }

  @Test("the lifetime of provider tokens is what the script says")
  func tokenLifetime() async throws {
    try await run(#"{"providerTokenLifetime": 60}"#) { test in
      let sender = try test.sender()
      #expect(try await sender.send(try test.request()).status == 200)
      let old = try test.fixture.providerToken(issued: Timestamp.now.advanced(bySeconds: -70))
      let answer = try await sender.send(
        try test.request { $0.set("authorization", "bearer \(old)") })
      #expect(answer.status == 403)
    }
  }

  @Test("TLS handshakes fail as told, one each, and then go well again")
  func handshakes() async throws {
    try await run(#"{"handshakes": ["refused", "untrusted", "otherHost", "expired"]}"#) { test in
      var reasons: [String] = []
      for _ in 0..<4 { reasons.append(await error(try test.sender())?.reason ?? "") }
      let expected = [
        "no application protocol", "self-signed certificate", "hostname mismatch",
        "certificate has expired",
      ]
      for (reason, expected) in zip(reasons, expected) {
        #expect(reason.contains(expected), "\(reason)")
      }
      #expect(try await test.sender().send(try test.request()).status == 200)
    }
  }

  @Test("a slow reader makes its sender wait for room, and gets all in the end")
  func slowReads() async throws {
    try await run(#"{"readDelay": 0.02}"#) { test in
      let sender = try test.sender()
      let count = Mutex(0)
      for _ in 0..<100 {
        let request = try test.request { $0.body = Self.largeBody }
        sender.begin(request) { outcome in
          if case .success(let answer) = outcome, answer.status == 200 {
            count.withLock { $0 += 1 }
          }
        }
      }
      // With 65,535 bytes of room no more than 16 such requests can be whole before it is renewed.
      try await eventually("all are accepted") { count.withLock { $0 } == 100 }
    }
  }

  private static let largeBody = Array(
    (#"{"aps":{"alert":""# + String(repeating: "a", count: 4000) + #""}}"#).utf8)
}
