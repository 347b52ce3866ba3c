import APNsSimulation
import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import ProxySimulation
import Synchronization
import Testing
import Waiting

@testable import PushChannels

/// For each line of what the connection to APNs does: every push has exactly one outcome, and the
/// simulator has accepted exactly those that are said to be delivered.
@Suite(.timeLimit(.minutes(2)))
struct APNsFaultTests {
  struct Day: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var script: String

    init(_ name: String, _ script: String) {
      testDescription = name
      self.script = script
    }
  }

  static let days = [
    Day("a good day", "{}"),
    Day("few streams", #"{"streams": 3}"#),
    Day("one stream at first", #"{"oneStreamFirst": true, "streams": 20}"#),
    Day(
      "the number of streams changes in the middle",
      """
      {"streams": 40, "steps": [{"do": "set", "streams": 1, "after": 30},
                                {"do": "set", "streams": 15, "after": 60}]}
      """),
    Day(
      "GOAWAY in the middle",
      #"{"steps": [{"do": "goAway", "gathers": 10, "answers": 4, "reason": "Shutdown", "after": 5}]}"#
    ),
    Day(
      "GOAWAY again and again",
      """
      {"steps": [{"do": "goAway", "gathers": 5, "answers": 5, "after": 3, "reason": "IdleTimeout"},
                 {"do": "goAway", "gathers": 20, "answers": 0, "after": 3},
                 {"do": "goAway", "after": 3}]}
      """),
    Day("connections with few requests", #"{"requestsPerConnection": 20}"#),
    Day("GOAWAY before the first answer", #"{"steps": [{"do": "goAway"}, {"do": "goAway"}]}"#),
    Day(
      "refused streams", #"{"steps": [{"do": "reset", "code": "REFUSED_STREAM", "times": 30}]}"#),
    Day("reset streams", #"{"steps": [{"do": "reset", "after": 7, "times": 9}]}"#),
    Day(
      "cut connections",
      """
      {"steps": [{"do": "disconnect", "after": 20, "times": 1}, {"do": "disconnect", "times": 2},
                 {"do": "disconnect", "after": 9, "times": 1}]}
      """),
    Day("stalled requests", #"{"steps": [{"do": "stall", "after": 20, "times": 5}]}"#),
    Day("a stalled first request", #"{"steps": [{"do": "stall", "times": 1}]}"#),
    Day("a frozen connection", #"{"steps": [{"do": "freeze", "after": 20, "times": 1}]}"#),
    Day("late answers", #"{"steps": [{"do": "delay", "seconds": 0.01, "times": 100}]}"#),
    Day(
      "429, 500 and 503",
      """
      {"steps": [
        {"do": "reject", "reason": "TooManyRequests", "times": 3, "after": 1},
        {"do": "reject", "reason": "TooManyRequests", "times": 3, "retryAfter": 5},
        {"do": "reject", "reason": "InternalServerError", "times": 5, "after": 10},
        {"do": "reject", "reason": "ServiceUnavailable", "times": 5, "after": 10},
        {"do": "reject", "reason": "ServiceUnavailable", "times": 5, "retryAfter": 60},
        {"do": "reject", "reason": "Shutdown", "times": 5},
        {"do": "reject", "reason": "IdleTimeout", "times": 5},
        {"do": "answer", "status": 502, "times": 2}]}
      """),
    Day(
      "TLS that fails at first",
      #"{"handshakes": ["refused", "untrusted", "otherHost", "expired"]}"#),
    Day(
      "TLS that fails in the middle",
      """
      {"steps": [{"do": "set", "handshakes": ["refused", "expired"], "after": 20},
                 {"do": "disconnect", "times": 1}]}
      """),
    Day("a slow reader", #"{"readDelay": 0.002}"#),
  ]

  /// A client that does not wait for long for what a simulator does not do.
  private static func hurry(_ configuration: inout APNsClient.Configuration) {
    configuration.answerTimeout = .milliseconds(150)
    configuration.pingTimeout = .milliseconds(150)
    configuration.fullnessBeforeConnecting = .milliseconds(2)
  }

  private func expectRest(_ clients: [APNsClient]) async throws {
    for client in clients {
      try await eventually("the figures come to rest") {
        client.metrics.waiting == 0 && client.metrics.inFlight == 0
      }
    }
  }

  @Test("whatever the day, all pushes are delivered in the end, each said once", arguments: days)
  func day(_ day: Day) async throws {
    let script = try SimulatorScript(parsing: day.script)
    try await SenderFixture.run {
      script.apply(to: &$0)
    } _: { fixture in
      let client = fixture.client(change: Self.hurry)
      let deliveries = Deliveries()
      for _ in 0..<4 {
        deliveries.send(fixture.pushes(50), over: client)
        try await eventually("some are delivered") { deliveries.finals.count >= 20 }
      }
      #expect(try await deliveries.finish() == [.delivered: 200])
      #expect(Set(fixture.simulator.acceptances.keys) == deliveries.identifiers)
      try await expectRest([client])
      await client.close()
    }
  }

  @Test("What APNs refuses is refused once, and what it takes is delivered")
  func refusals() async throws {
    let script = try SimulatorScript(
      parsing: """
        {"steps": [
          {"do": "reject", "reason": "Unregistered", "times": 5, "after": 10},
          {"do": "reject", "reason": "InvalidProviderToken", "times": 1, "after": 10},
          {"do": "reject", "reason": "BadCollapseId", "times": 5, "after": 20},
          {"do": "reject", "reason": "TopicDisallowed", "times": 5}]}
        """)
    try await SenderFixture.run {
      script.apply(to: &$0)
    } _: { fixture in
      let client = fixture.client()
      let deliveries = Deliveries()
      deliveries.send(fixture.pushes(100), over: client)
      let finals = try await deliveries.finish()
      #expect(finals[.delivered] == 84)
      #expect(finals[.dropped] == 5)
      #expect(finals.values.reduce(0, +) == 100)
      #expect(fixture.simulator.acceptances.count == 84)
      #expect(fixture.simulator.acceptances.values.allSatisfy { $0 == 1 })
      await client.close()
    }
  }

  // MARK: Provider tokens and certificates

  @Test("When a token expires early, all pushes that it hits are repeated with the next one")
  func expiredToken() async throws {
    let offset = Mutex(-1500.0)
    try await SenderFixture.run { fixture in
      let client = fixture.client(
        change: Self.hurry,
        clock: { Timestamp.now.advanced(bySeconds: offset.withLock { $0 }) })
      let deliveries = Deliveries()
      deliveries.send(fixture.pushes(20), over: client)
      try await deliveries.finish()
      offset.withLock { $0 = 0 }
      fixture.simulator.script(.expireTokens.after(5))
      deliveries.send(fixture.pushes(100), over: client)
      #expect(try await deliveries.finish() == [.delivered: 120])
      #expect(Set(fixture.simulator.acceptances.keys) == deliveries.identifiers)
      let tokens = Set(fixture.simulator.received.compactMap { $0.headers["authorization"] })
      #expect(tokens.count == 2)
      #expect(fixture.simulator.received.contains { $0.reason == "ExpiredProviderToken" })
      await client.close()
    }
  }

  @Test("When a young token is called expired, the clock is wrong, and the outcome says so")
  func wrongClock() async throws {
    try await SenderFixture.run { fixture in
      let client = fixture.client(
        change: Self.hurry, clock: { Timestamp.now.advanced(bySeconds: -7200) })
      let deliveries = Deliveries()
      deliveries.send(fixture.pushes(5), over: client)
      let finals = try await deliveries.finish()
      #expect(finals.values.reduce(0, +) == 5)
      for final in finals.keys {
        guard case .suspended(let message) = final else {
          Issue.record("\(final)")
          continue
        }
        #expect(message.contains("clock is wrong"))
      }
      let tokens = Set(fixture.simulator.received.compactMap { $0.headers["authorization"] })
      #expect(tokens.count == 1)
      await client.close()
    }
  }

  @Test("A certificate is as good as a key, and no provider token is sent with it")
  func certificate() async throws {
    let authority = try CertificateAuthority(commonName: "Push certificates")
    try await SenderFixture.run {
      $0.clientAuthorityPEM = authority.certificatePEM
    } _: { fixture in
      let identity = try authority.pushIdentity("Apple Push Services: com.example.app")
      let client = fixture.client {
        Self.hurry(&$0)
        $0.authentication = .certificate(identity)
      }
      let deliveries = Deliveries()
      fixture.simulator.script(.goAway(gathering: 10, answering: 4).after(20))
      deliveries.send(fixture.pushes(100), over: client)
      let finals = try await deliveries.finish()
      #expect(finals == [.delivered: 100])
      #expect(Set(fixture.simulator.acceptances.keys) == deliveries.identifiers)
      #expect(
        fixture.simulator.received.allSatisfy {
          $0.headers["authorization"] == nil && $0.headers["apns-topic"] == "com.example.app"
        })
      await client.close()
    }
  }

  @Test(
    "A certificate that APNs does not take suspends its pushes with the reason",
    arguments: [
      ("Apple Production IOS Push Services: com.example.app", false, "BadCertificateEnvironment"),
      ("Apple Push Services: com.example.other", false, "TopicDisallowed"),
      ("Apple Push Services: com.example.app", true, "BadCertificate"),
    ])
  func badCertificate(name: String, isForeign: Bool, reason: String) async throws {
    let authority = try CertificateAuthority(commonName: "Push certificates")
    let issuer = isForeign ? try CertificateAuthority(commonName: "Others") : authority
    try await SenderFixture.run {
      $0.clientAuthorityPEM = authority.certificatePEM
    } _: { fixture in
      let identity = try issuer.pushIdentity(name)
      let client = fixture.client {
        Self.hurry(&$0)
        $0.authentication = .certificate(identity)
      }
      let deliveries = Deliveries()
      deliveries.send(fixture.pushes(3), over: client)
      let finals = try await deliveries.finish()
      #expect(finals.values.reduce(0, +) == 3)
      for final in finals.keys {
        guard case .suspended(let message) = final else {
          Issue.record("\(final)")
          continue
        }
        #expect(message.contains(" \(reason):"), "\(message)")
      }
      #expect(fixture.simulator.acceptances.isEmpty)
      await client.close()
    }
  }

  // MARK: Proxies

  @Test("Pushes go through a proxy, and over another tunnel when one breaks")
  func proxy() async throws {
    let script = try SimulatorScript(
      parsing: #"{"steps": [{"do": "disconnect", "after": 30, "times": 1}]}"#)
    try await SenderFixture.run {
      script.apply(to: &$0)
    } _: { fixture in
      let proxy = try SimulatedProxy(.tunnelFor("Basic YW5uYTpzZWNyZXQ="))
      let client = fixture.client {
        Self.hurry(&$0)
        $0.proxy = HTTPProxy(
          host: "127.0.0.1", port: proxy.port,
          credentials: .init(user: "anna", password: "secret"))
      }
      let deliveries = Deliveries()
      deliveries.send(fixture.pushes(100), over: client)
      let finals = try await deliveries.finish()
      #expect(finals == [.delivered: 100])
      #expect(Set(fixture.simulator.acceptances.keys) == deliveries.identifiers)
      #expect(proxy.tunnelCount >= 2)
      await client.close()
      proxy.stop()
    }
  }

  @Test("A proxy that refuses is told with each push that it holds up")
  func refusingProxy() async throws {
    try await SenderFixture.run { fixture in
      let proxy = try SimulatedProxy(.answer("HTTP/1.1 403 Forbidden\r\n\r\n"))
      let client = fixture.client {
        $0.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port)
      }
      let sent = SentPushes()
      sent.send(fixture.pushes(5), over: client)
      for result in try await sent.finish() {
        #expect(result.reach == .notSent)
        #expect(result.reason.contains("refused to connect: 403 Forbidden"))
      }
      await client.close()
      proxy.stop()
    }
  }

  // MARK: Side by side

  @Test("Teams and environments stand side by side: one's trouble is not another's")
  func sideBySide() async throws {
    let otherKey = try ES256PrivateKey()
    try await SenderFixture.run {
      $0.keys?.append(
        ProviderKey(keyID: "OTHER67890", teamID: "OTHER67890", publicKey: otherKey.publicKey))
    } _: { sandbox in
      try await SenderFixture.run {
        $0.environment = .production
      } _: { production in
        let stalled = production.client()
        production.simulator.script(.stall)
        let clients = [
          sandbox.client(change: Self.hurry),
          sandbox.client {
            Self.hurry(&$0)
            $0.authentication = .tokens(
              ProviderTokenSource(key: otherKey, keyID: "OTHER67890", teamID: "OTHER67890"))
          },
        ]
        let lost = SentPushes()
        lost.send(production.pushes(50), over: stalled)
        let deliveries = Deliveries()
        for client in clients {
          for topic in ["com.example.app", "com.example.other"] {
            var pushes = sandbox.pushes(50)
            for index in pushes.indices { pushes[index].topic = topic }
            deliveries.send(pushes, over: client)
          }
        }
        #expect(try await deliveries.finish() == [.delivered: 200])
        #expect(Set(sandbox.simulator.acceptances.keys) == deliveries.identifiers)
        #expect(
          Set(sandbox.simulator.received.compactMap { $0.headers["apns-topic"] })
            == ["com.example.app", "com.example.other"])
        // Each team has connections of its own.
        #expect(sandbox.simulator.received.allSatisfy { $0.status == 200 })
        #expect(lost.results.isEmpty)
        try await eventually("one is stalled") { stalled.metrics.inFlight == 1 }
        for client in clients { await client.close() }
        production.simulator.cutConnections()
        try await lost.finish()
        await stalled.close()
      }
    }
  }
}

extension CertificateAuthority {
  fileprivate func pushIdentity(_ commonName: String) throws -> TLSIdentity {
    let issued = try issueClientCertificate(commonName: commonName)
    return TLSIdentity(
      certificateChainPEM: issued.certificateChainPEM, privateKeyPEM: issued.privateKeyPEM)
  }
}
