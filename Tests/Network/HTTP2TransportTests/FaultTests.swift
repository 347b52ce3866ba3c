import Dispatch
import Testing
import Waiting

@testable import HTTP2Transport

struct FaultTests {
  /// A playground whose server leaves four requests open.
  private func withFourOpenRequests() async throws -> (Playground, Client, [HTTP2ServerRequest]) {
    let playground = try Playground(configure: { $0.maximumConcurrentStreams = 4 })
    let client = try playground.client()
    for number in 0..<4 { client.send("/\(number)") }
    return (playground, client, try await playground.requests.wait(count: 4))
  }

  @Test("GOAWAY fails requests above its last stream and those waiting; the others are answered")
  func goAway() async throws {
    let (playground, client, requests) = try await withFourOpenRequests()
    client.send("/waiting")
    playground.server.goAway(
      requests[0].connection, lastStream: requests[1].stream, code: .enhanceYourCalm,
      debugData: Array("why".utf8))
    try await client.outcomes.wait(count: 3)
    for path in ["/2", "/3", "/waiting"] {
      #expect(client.error(of: path)?.code == .goingAway)
      #expect(client.error(of: path)?.isSafeToRepeat == true)
    }
    client.send("/late")
    #expect(client.error(of: "/late")?.code == .goingAway)

    requests[0].respond(status: 200)
    requests[1].respond(status: 201)
    #expect(try await client.ending() == nil)
    #expect(client.status(of: "/0") == 200)
    #expect(client.status(of: "/1") == 201)
    #expect(
      client.events.elements.dropFirst().first
        == .goingAway(
          lastStream: requests[1].stream, code: .enhanceYourCalm, debugData: Array("why".utf8)))
    await playground.stop()
  }

  @Test("A server that closes when it has answered loses no request")
  func gracefulServer() async throws {
    let (playground, client, requests) = try await withFourOpenRequests()
    playground.server.close(requests[0].connection, .whenAnswered)
    try await client.events.wait(count: 2)
    for request in requests { request.respond(status: 200) }
    #expect(try await client.ending() == nil)
    #expect((0..<4).allSatisfy { client.status(of: "/\($0)") == 200 })
    await playground.stop()
  }

  @Test("A reset request fails alone; only REFUSED_STREAM makes it safe to repeat")
  func reset() async throws {
    let (playground, client, requests) = try await withFourOpenRequests()
    playground.server.reset(
      stream: requests[0].stream, of: requests[0].connection, code: .internalError)
    playground.server.reset(
      stream: requests[1].stream, of: requests[1].connection, code: .refusedStream)
    try await client.outcomes.wait(count: 2)
    let internalError = try #require(client.error(of: "/0"))
    #expect(internalError.code == .reset)
    #expect(internalError.peerCode == .internalError)
    #expect(!internalError.isSafeToRepeat)
    let refused = try #require(client.error(of: "/1"))
    #expect(refused.code == .refused)
    #expect(refused.isSafeToRepeat)

    requests[0].respond(status: 500)
    requests[2].respond(status: 200)
    try await client.outcomes.wait(count: 3)
    #expect(client.status(of: "/2") == 200)
    await playground.stop()
  }

  @Test("A lost connection leaves open requests with unknown fate and waiting ones safe to repeat")
  func lost() async throws {
    let (playground, client, requests) = try await withFourOpenRequests()
    client.send("/waiting")
    requests[0].respond(status: 200)
    try await client.outcomes.wait(count: 1)
    try await playground.requests.wait(count: 5)
    client.send("/waiting more")
    playground.server.close(requests[0].connection, .atOnce)
    #expect(try await client.ending()?.code == .connectionLost)
    #expect(client.status(of: "/0") == 200)
    for path in ["/1", "/2", "/3", "/waiting"] {
      #expect(client.error(of: path)?.code == .connectionLost)
      #expect(client.error(of: path)?.isSafeToRepeat == false)
    }
    #expect(client.error(of: "/waiting more")?.isSafeToRepeat == true)
    await playground.stop()
  }

  @Test("A peer that goes silent is found out by PING, busy or idle", arguments: [true, false])
  func silence(isBusy: Bool) async throws {
    let playground = try Playground(stalls: true)
    let client = try playground.client {
      $0.pingAfterBusySilence = isBusy ? .milliseconds(50) : .seconds(3600)
      $0.pingAfterIdleSilence = isBusy ? .seconds(3600) : .milliseconds(50)
      $0.pingTimeout = .milliseconds(50)
    }
    if isBusy { client.send("/") }
    let error = try #require(try await client.ending())
    #expect(error.code == .connectionLost)
    #expect(error.reason.contains("PING"))
    #expect(client.events.elements.first?.isOpened == true)
    if isBusy { #expect(client.error(of: "/")?.isSafeToRepeat == false) }
    await playground.stop()
  }

  @Test("A connection that was stalled for a while goes on")
  func resumed() async throws {
    let playground = try Playground(answering: { $0.respond(status: 200) })
    let client = try playground.client {
      $0.pingAfterBusySilence = .milliseconds(10)
      $0.pingTimeout = .seconds(600)
    }
    try await client.events.wait(count: 1)
    try await eventually("there is a connection") { !playground.server.openConnections.isEmpty }
    let connection = playground.server.openConnections[0]
    playground.server.stall(connection)
    await playground.serverIsUpToDate()
    client.send("/")
    try await eventually("the stream is open") { client.connection.load.openStreams == 1 }
    #expect(playground.requests.elements.isEmpty)
    playground.server.resume(connection)
    try await client.outcomes.wait(count: 1)
    #expect(client.status(of: "/") == 200)
    await playground.stop()
  }

  @Test("A client that closes when answered finishes what it took and refuses the rest")
  func gracefulClient() async throws {
    let (playground, client, requests) = try await withFourOpenRequests()
    client.send("/waiting")
    client.connection.close(.whenAnswered)
    for request in requests { request.respond(status: 200) }
    try await playground.requests.wait(count: 5)[4].respond(status: 202)
    #expect(try await client.ending() == nil)
    #expect(client.status(of: "/waiting") == 202)
    client.send("/late")
    #expect(client.error(of: "/late")?.code == .closed)
    try await playground.serverEvents.wait(count: 2)
    #expect(
      playground.serverEvents.elements
        == [.opened(requests[0].connection), .closed(requests[0].connection, nil)])
    await playground.stop()
  }

  @Test("A client that closes at once tells each request what is known of it")
  func abruptClient() async throws {
    let (playground, client, _) = try await withFourOpenRequests()
    client.send("/waiting")
    client.connection.close(.atOnce)
    #expect(try await client.ending()?.code == .closed)
    #expect(client.outcomes.elements.count == 5)
    #expect(client.error(of: "/0")?.isSafeToRepeat == false)
    #expect(client.error(of: "/waiting")?.isSafeToRepeat == true)
    await playground.stop()
  }

  @Test("Closing before the connection is open fails what waits as safe to repeat")
  func closedEarly() async throws {
    let playground = try Playground()
    // The loop's own thread waits until all is said, so that nothing opens in between.
    let isSaid = DispatchSemaphore(value: 0)
    playground.loop.execute { isSaid.wait() }
    let client = try playground.client()
    client.send("/")
    client.connection.close(.atOnce)
    isSaid.signal()
    #expect(try await client.ending()?.code == .closed)
    #expect(client.error(of: "/")?.isSafeToRepeat == true)
    await playground.stop()
  }
}
