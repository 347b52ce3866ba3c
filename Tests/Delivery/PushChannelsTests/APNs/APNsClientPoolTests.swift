import CloudKitModel
import Foundation
import HTTP2Transport
import Testing
import Waiting

@testable import PushChannels

@Suite(.timeLimit(.minutes(1)))
struct APNsClientPoolTests {
  @Test("When all streams are in use and pushes wait, others are opened, each proven by one push")
  func grows() async throws {
    let apns = try ScriptedAPNs(
      maximumConcurrentStreams: 2,
      answer: { request, number in
        if number == 1 { request.respond(status: 200) }
      },
      configure: {
        $0.maximumConnections = 3
        $0.fullnessBeforeConnecting = .milliseconds(1)
      })
    _ = try await apns.result()
    for _ in 0..<10 { apns.send() }
    // Two on the first, and the proof of the second.
    var requests = try await apns.waitForRequests(4)
    #expect(Set(requests[1...3].map(\.connection)).count == 2)
    #expect(apns.client.metrics.openConnections == 2)
    requests[3].respond(status: 200)
    // Two on the second, and the proof of the third.
    requests = try await apns.waitForRequests(7)
    #expect(Set(requests.map(\.connection)).count == 3)
    requests.last { $0.connection == requests.map(\.connection).max() }?.respond(status: 200)
    requests = try await apns.waitForRequests(9)
    try await eventually("all connections are full") { apns.client.metrics.inFlight == 6 }
    #expect(apns.client.metrics.waiting == 2)
    #expect(apns.client.metrics.connections == 3)
    for request in requests { request.respond(status: 200) }
    for request in try await apns.waitForRequests(11) { request.respond(status: 200) }
    try await eventually("all are answered") { apns.results.count == 11 }
    #expect(apns.client.metrics.connections == 3)
    await apns.stop()
  }

  @Test("Connections that a rush has opened are closed when they are idle, all but one")
  func shrinks() async throws {
    let apns = try ScriptedAPNs(
      maximumConcurrentStreams: 1,
      answer: { request, number in
        if number == 1 { request.respond(status: 200) }
      },
      configure: {
        $0.maximumConnections = 2
        $0.fullnessBeforeConnecting = .zero
        $0.idleTimeout = .milliseconds(20)
      })
    _ = try await apns.result()
    for _ in 0..<2 { apns.send() }
    for request in try await apns.waitForRequests(3) { request.respond(status: 200) }
    #expect(Set(apns.requests.map(\.connection)).count == 2)
    try await eventually("one is closed") { apns.server.openConnections.count == 1 }
    #expect(apns.client.metrics.openConnections == 1)
    #expect(apns.server.openConnections == [apns.requests[0].connection])
    await apns.stop()
  }

  @Test("A connection on which the key is refused gets no more pushes; the next one proves itself")
  func refusedKey() async throws {
    let apns = try ScriptedAPNs { request, number in
      if number == 2 {
        request.respond(status: 403, body: Array(#"{"reason":"InvalidProviderToken"}"#.utf8))
      } else {
        request.respond(status: 200)
      }
    }
    _ = try await apns.result()
    #expect(try await apns.result() == .apns(403, "InvalidProviderToken"))
    try await eventually("the figures say why") {
      apns.client.metrics.lastEnd == "APNs refused the sender: InvalidProviderToken"
    }
    #expect(try await apns.result() == .apns(200))
    #expect(Set(apns.requests.map(\.connection)).count == 2)
    try await eventually("the first is closed") { apns.server.openConnections.count == 1 }
    await apns.stop()
  }

  @Test("A push that was refused as a stream first can still have its token renewed")
  func renewalAfterRefusal() async throws {
    let server = Later<HTTP2Server>()
    let apns = try ScriptedAPNs { request, number in
      switch number {
      case 2:
        server.value?.reset(
          stream: request.stream, of: request.connection, code: .refusedStream)
      case 3: request.respond(status: 403, body: Array(#"{"reason":"ExpiredProviderToken"}"#.utf8))
      default: request.respond(status: 200)
      }
    }
    server.value = apns.server
    _ = try await apns.result()
    apns.setClock(minutes: 30)
    #expect(try await apns.result() == .apns(200))
    #expect(apns.requests.count == 4)
    await apns.stop()
  }

  @Test("After a complaint of too many tokens the old one is used on, then nothing is sent")
  func complaint() async throws {
    let apns = try ScriptedAPNs { request, number in
      if number == 2 {
        request.respond(
          status: 429, body: Array(#"{"reason":"TooManyProviderTokenUpdates"}"#.utf8))
      } else {
        request.respond(status: 200)
      }
    }
    _ = try await apns.result()
    apns.setClock(minutes: 49)
    #expect(try await apns.result().status == 429)
    apns.setClock(minutes: 10)
    #expect(try await apns.result() == .apns(200))
    #expect(Set(apns.requests.map { $0.headers["authorization"] }).count == 1)
    apns.setClock(minutes: 2)
    let answer = try await apns.result()
    #expect(
      answer.reach == .notSent && answer.reason.contains("fewer provider tokens"), "\(answer)")
    apns.setClock(minutes: 10)
    #expect(try await apns.result() == .apns(200))
    #expect(Set(apns.requests.map { $0.headers["authorization"] }).count == 2)
    await apns.stop()
  }
}
