import Testing
import Waiting

@testable import HTTP2Transport

struct StreamLimitTests {
  @Test("No more requests are open than the peer allows; the others follow as answers come")
  func heldBack() async throws {
    let playground = try Playground(configure: { $0.maximumConcurrentStreams = 3 })
    let client = try playground.client()
    for number in 0..<10 { client.send("/\(number)") }
    for round in 1...10 {
      let requests = try await playground.requests.wait(count: min(round + 2, 10))
      #expect(requests.count == min(round + 2, 10))
      requests[round - 1].respond(status: 200)
      try await client.outcomes.wait(count: round)
    }
    #expect(client.events.elements == [.opened(maximumConcurrentStreams: 3)])
    #expect((0..<10).allSatisfy { client.status(of: "/\($0)") == 200 })
    await playground.stop()
  }

  @Test("The client's own limit holds where the peer would allow more")
  func ownLimit() async throws {
    let playground = try Playground()
    let client = try playground.client { $0.maximumConcurrentStreams = 2 }
    for number in 0..<3 { client.send("/\(number)") }
    try await client.events.wait { $0 == [.opened(maximumConcurrentStreams: 2)] }
    try await playground.requests.wait(count: 2)
    playground.requests.elements[0].respond(status: 200)
    try await playground.requests.wait(count: 3)
    await playground.stop()
  }

  @Test("A raised limit lets waiting requests out, a lowered one holds later ones back")
  func changedLimit() async throws {
    let playground = try Playground(configure: { $0.maximumConcurrentStreams = 1 })
    let client = try playground.client()
    for number in 0..<4 { client.send("/\(number)") }
    try await playground.requests.wait(count: 1)
    playground.server.setMaximumConcurrentStreams(4)
    try await client.events.wait { $0.contains(.limitChanged(maximumConcurrentStreams: 4)) }
    for request in try await playground.requests.wait(count: 4) { request.respond(status: 200) }
    try await client.outcomes.wait(count: 4)

    playground.server.setMaximumConcurrentStreams(2)
    try await client.events.wait { $0.contains(.limitChanged(maximumConcurrentStreams: 2)) }
    for number in 4..<8 { client.send("/\(number)") }
    try await playground.requests.wait(count: 6)
    #expect(client.connection.load.openStreams <= 2)
    for round in 5...8 {
      try await playground.requests.wait(count: round)[round - 1].respond(status: 200)
    }
    try await client.outcomes.wait(count: 8)
    #expect((0..<8).allSatisfy { client.status(of: "/\($0)") == 200 })
    await playground.stop()
  }

  @Test("The limit is announced to connections that come later")
  func laterConnections() async throws {
    let playground = try Playground()
    playground.server.setMaximumConcurrentStreams(7)
    let client = try playground.client()
    try await client.events.wait { $0 == [.opened(maximumConcurrentStreams: 7)] }
    await playground.stop()
  }

  @Test("A full queue refuses at once, tells so, and takes requests again when it has room")
  func boundedQueue() async throws {
    let playground = try Playground(configure: { $0.maximumConcurrentStreams = 1 })
    let client = try playground.client { $0.maximumWaitingRequests = 3 }
    client.send("/open")
    try await playground.requests.wait(count: 1)
    try await client.events.wait { $0.contains(where: \.isOpened) }
    try await eventually("none waits") { client.connection.load.waiting == 0 }
    for number in 0..<3 { client.send("/waiting/\(number)") }
    #expect(client.connection.load.waiting == 3)

    client.send("/refused")
    let error = try #require(client.error(of: "/refused"))
    #expect(error.code == .queueFull)
    #expect(error.isSafeToRepeat)

    playground.requests.elements[0].respond(status: 200)
    try await playground.requests.wait(count: 2)
    try await eventually("two wait") { client.connection.load.waiting == 2 }
    client.send("/late")
    for round in 2...5 {
      try await playground.requests.wait(count: round)[round - 1].respond(status: 200)
    }
    try await client.outcomes.wait(count: 6)
    #expect(client.status(of: "/late") == 200)
    await playground.stop()
  }
}
