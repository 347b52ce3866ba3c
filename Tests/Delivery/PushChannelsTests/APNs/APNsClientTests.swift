import CloudKitModel
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import PushChannels

struct APNsClientTests {
  private let accepted = PushAnswer.apns(200)

  @Test("A push goes out with its path, headers, provider token and payload")
  func request() async throws {
    let apns = try ScriptedAPNs { request, _ in
      request.respond(status: 200, headers: ["apns-id": "the-id"])
    }
    let identifier = apns.send(token: "ab12")
    #expect(try await apns.result(of: identifier) == accepted)
    let request = try #require(apns.requests.first)
    #expect(request.method == "POST")
    #expect(request.path == "/3/device/ab12")
    #expect(request.headers["apns-topic"] == "com.example.app")
    #expect(request.headers["apns-push-type"] == "alert")
    #expect(request.headers["apns-id"] == identifier.uuidString.lowercased())
    let authorization = try #require(request.headers["authorization"])
    #expect(authorization.wholeMatch(of: /bearer [\w-]+\.[\w-]+\.[\w-]{86}/) != nil)
    #expect(request.body == ScriptedAPNs.push(token: "ab12").payload.bytes)
    await apns.stop()
  }

  @Test("A rejection brings its reason, its time and when to come back")
  func rejection() async throws {
    let apns = try ScriptedAPNs { request, _ in
      request.respond(
        status: 410, headers: ["retry-after": "7"],
        body: Array(#"{"reason":"Unregistered","timestamp":1767225600123}"#.utf8))
    }
    #expect(
      try await apns.result()
        == .apns(
          410, "Unregistered", timestamp: Timestamp(milliseconds: 1_767_225_600_123), retryAfter: 7)
    )
    try await eventually("the figures show it") { apns.client.metrics.rejected == 1 }
    await apns.stop()
  }

  @Test("An answer whose body is no JSON still tells its status")
  func noJSON() async throws {
    let apns = try ScriptedAPNs { request, _ in
      request.respond(status: 502, body: Array("<html>".utf8))
    }
    #expect(try await apns.result() == .apns(502))
    await apns.stop()
  }

  @Test("The first push goes alone; when it is answered the others follow side by side")
  func firstAlone() async throws {
    let apns = try ScriptedAPNs { _, _ in }
    for _ in 0..<20 { apns.send() }
    _ = try await apns.waitForRequests(1)
    try await eventually("the figures show it") { apns.client.metrics.inFlight == 1 }
    #expect(apns.client.metrics.waiting == 19)
    #expect(apns.requests.count == 1)
    apns.requests[0].respond(status: 200)
    for request in try await apns.waitForRequests(20).dropFirst() { request.respond(status: 200) }
    try await eventually("all are answered") { apns.results.count == 20 }
    try await eventually("the figures show it") { apns.client.metrics.accepted == 20 }
    #expect(Set(apns.requests.map(\.connection)).count == 1)
    #expect(apns.client.metrics.connections == 1)
    await apns.stop()
  }

  @Test("Thousands of pushes from many threads are each answered once, within the peer's limit")
  func many() async throws {
    let apns = try ScriptedAPNs(maximumConcurrentStreams: 50)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<500 { apns.send() }
    }
    try await eventually("all are answered") { apns.results.count == 4000 }
    #expect(apns.results.values.allSatisfy { $0 == accepted })
    #expect(apns.requests.count == 4000)
    try await eventually("the figures come to rest") {
      apns.client.metrics.waiting == 0 && apns.client.metrics.inFlight == 0
    }
    await apns.stop()
  }

  @Test("At its capacity a client refuses at once")
  func capacity() async throws {
    let apns = try ScriptedAPNs(answer: { _, _ in }, configure: { $0.capacity = 5 })
    apns.send()
    _ = try await apns.waitForRequests(1)
    try await eventually("one is on its way") { apns.client.metrics.waiting == 0 }
    for _ in 0..<5 { apns.send() }
    let refused = apns.send()
    #expect(apns.results[refused] == .notSent("5 pushes are waiting, which is the limit"))
    apns.requests[0].respond(status: 200)
    for request in try await apns.waitForRequests(6).dropFirst() { request.respond(status: 200) }
    try await eventually("the others are answered") { apns.results.count == 7 }
    await apns.stop()
  }

  // MARK: Provider tokens

  @Test("An old token that is called expired is replaced and the push repeated, once")
  func expiredToken() async throws {
    let apns = try ScriptedAPNs { request, number in
      if number == 2 || number == 3 {
        request.respond(status: 403, body: Array(#"{"reason":"ExpiredProviderToken"}"#.utf8))
      } else {
        request.respond(status: 200)
      }
    }
    #expect(try await apns.result() == accepted)
    apns.setClock(minutes: 30)
    // The second answer of that kind is not repeated again.
    #expect(try await apns.result() == .apns(403, "ExpiredProviderToken"))
    let tokens = apns.requests.map { $0.headers["authorization"] }
    #expect(apns.requests.count == 3)
    #expect(tokens[0] == tokens[1])
    #expect(tokens[1] != tokens[2])
    #expect(apns.requests[1].headers["apns-id"] == apns.requests[2].headers["apns-id"])
    #expect(try await apns.result() == accepted)
    await apns.stop()
  }

  @Test("A young token that is called expired stays, and the answer is passed on")
  func youngToken() async throws {
    let apns = try ScriptedAPNs { request, _ in
      request.respond(status: 403, body: Array(#"{"reason":"ExpiredProviderToken"}"#.utf8))
    }
    #expect(try await apns.result() == .apns(403, "ExpiredProviderToken"))
    #expect(apns.requests.count == 1)
    await apns.stop()
  }

  @Test("A token is used for all pushes until it is 50 minutes old, without a new connection")
  func tokenRenewal() async throws {
    let apns = try ScriptedAPNs()
    _ = try await apns.result()
    apns.setClock(minutes: 49)
    _ = try await apns.result()
    apns.setClock(minutes: 1)
    _ = try await apns.result()
    let tokens = apns.requests.map { $0.headers["authorization"] }
    #expect(tokens[0] == tokens[1])
    #expect(tokens[1] != tokens[2])
    #expect(Set(apns.requests.map(\.connection)).count == 1)
    await apns.stop()
  }

  // MARK: Connections that end

  @Test("After GOAWAY accepted pushes are answered, the others go over a new connection")
  func goAway() async throws {
    let apns = try ScriptedAPNs { request, number in
      if number == 1 || number > 5 { request.respond(status: 200) }
    }
    _ = try await apns.result()
    for _ in 0..<4 { apns.send() }
    let requests = try await apns.waitForRequests(5)
    apns.server.goAway(requests[0].connection, lastStream: requests[2].stream)
    _ = try await apns.waitForRequests(7)
    for request in requests[1...2] { request.respond(status: 200) }
    try await eventually("all are answered") { apns.results.count == 5 }
    #expect(apns.results.values.allSatisfy { $0 == accepted })
    let connections = apns.requests.map(\.connection)
    #expect(connections[5] != connections[0])
    #expect(connections[6] == connections[5])
    let identifiers = apns.requests.map { $0.headers["apns-id"] }
    #expect(Set(identifiers[5...]) == Set(identifiers[3...4]))
    await apns.stop()
  }

  @Test("When the connection is lost, sent pushes have an unknown fate; later ones go on")
  func lost() async throws {
    let apns = try ScriptedAPNs(
      maximumConcurrentStreams: 3,
      answer: { request, number in
        if number == 1 || number > 4 { request.respond(status: 200) }
      }, configure: { $0.maximumConnections = 1 })
    _ = try await apns.result()
    let sent = (0..<3).map { _ in apns.send() }
    let requests = try await apns.waitForRequests(4)
    let waiting = (0..<3).map { _ in apns.send() }
    apns.server.close(requests[0].connection, .atOnce)
    for identifier in sent {
      #expect(try await apns.result(of: identifier).reach == .unanswered)
    }
    for identifier in waiting { #expect(try await apns.result(of: identifier) == accepted) }
    #expect(apns.client.metrics.connections == 2)
    await apns.stop()
  }

  @Test("An idle client whose connection ended opens another with the next push")
  func idleEnd() async throws {
    let apns = try ScriptedAPNs()
    _ = try await apns.result()
    apns.server.close(apns.requests[0].connection, .whenAnswered)
    try await eventually("the connection is gone") { !apns.client.metrics.isConnected }
    #expect(apns.client.metrics.connections == 1)
    #expect(try await apns.result() == accepted)
    #expect(apns.client.metrics.connections == 2)
    await apns.stop()
  }

  @Test("A refused push is sent again, but not for ever; a reset one has an unknown fate")
  func reset() async throws {
    let shared = Mutex<HTTP2Server?>(nil)
    let apns = try ScriptedAPNs { request, number in
      guard number > 1 else { return request.respond(status: 200) }
      let code: HTTP2ErrorCode = number == 8 ? .internalError : .refusedStream
      if number == 4 { return request.respond(status: 200) }
      let server = shared.withLock { $0 }
      server?.reset(stream: request.stream, of: request.connection, code: code)
    }
    shared.withLock { $0 = apns.server }
    _ = try await apns.result()
    // Refused twice, then accepted.
    #expect(try await apns.result() == accepted)
    #expect(apns.requests.count == 4)
    // Refused three times, which is enough.
    #expect(try await apns.result().reach == .notSent)
    #expect(apns.requests.count == 7)
    let answer = try await apns.result()
    #expect(answer.reach == .unanswered && answer.reason.contains("INTERNAL_ERROR"), "\(answer)")
    await apns.stop()
  }

  @Test("Where nobody listens, pushes are given back with the reason, again and again")
  func notListening() async throws {
    let apns = try ScriptedAPNs()
    await apns.server.stop()
    for _ in 0..<3 {
      let answer = try await apns.result()
      #expect(answer.reach == .notSent && answer.reason.contains("cannot be reached"), "\(answer)")
    }
    #expect(apns.client.metrics.connections == 3)
    #expect(apns.client.metrics.notSent == 3)
    await apns.stop()
  }

  @Test("An authority file that cannot be read is told with each push")
  func badAuthority() async throws {
    let apns = try ScriptedAPNs(configure: { $0.trust = .certificateFile("/no/such/file") })
    let answer = try await apns.result()
    #expect(answer.reach == .notSent && answer.reason.contains("/no/such/file"), "\(answer)")
    await apns.stop()
  }

  @Test("A server that goes silent is found out, and pushes go over another connection")
  func silence() async throws {
    let apns = try ScriptedAPNs(
      answer: { request, number in
        if number != 2 { request.respond(status: 200) }
      },
      configure: {
        $0.pingAfterBusySilence = .milliseconds(50)
        $0.pingTimeout = .seconds(1)
      })
    _ = try await apns.result()
    let swallowed = apns.send()
    let requests = try await apns.waitForRequests(2)
    apns.server.stall(requests[1].connection)
    let answer = try await apns.result(of: swallowed)
    #expect(answer.reach == .unanswered && answer.reason.contains("PING"), "\(answer)")
    #expect(try await apns.result() == accepted)
    await apns.stop()
  }

  // MARK: Closing

  @Test("Closing waits for what was sent, and refuses what comes later")
  func closes() async throws {
    let apns = try ScriptedAPNs { request, number in
      if number != 2 { request.respond(status: 200) }
    }
    _ = try await apns.result()
    let sent = apns.send()
    let requests = try await apns.waitForRequests(2)
    let closing = Task { await apns.client.close() }
    try await eventually("pushes are refused") {
      let late = apns.send()
      return apns.results[late] == .notSent("the client is closed")
    }
    #expect(apns.results[sent] == nil)
    requests[1].respond(status: 200)
    await closing.value
    #expect(apns.results[sent] == accepted)
    await apns.client.close()
    await apns.stop()
  }

  @Test("Closing does not wait longer than its time for answers")
  func closesInTime() async throws {
    let apns = try ScriptedAPNs(
      answer: { _, _ in }, configure: { $0.closeTimeout = .milliseconds(50) })
    let sent = apns.send()
    let waiting = apns.send()
    _ = try await apns.waitForRequests(1)
    await apns.client.close()
    #expect(apns.results[sent]?.reach == .unanswered)
    #expect(apns.results[waiting]?.reach == .notSent)
    await apns.stop()
  }

  @Test("A client that never sent anything, or whose loop is gone, closes at once")
  func closesUnused() async throws {
    let apns = try ScriptedAPNs()
    await apns.client.close()
    apns.loop.shutDown()
    try await eventually("the loop ends") { !apns.loop.execute {} }
    await apns.client.close()
    #expect(try await apns.result().reach == .notSent)
    await apns.stop()
  }
}
