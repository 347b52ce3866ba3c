import Foundation
import Testing

@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(1)))
struct OverdueAnswerTests {
  @Test("A request without an answer is broken off alone, with an unknown fate")
  func overdue() async throws {
    let playground = try Playground(answering: { request in
      if request.path != "/never" { request.respond(status: 200) }
    })
    let client = try playground.client { $0.answerTimeout = .milliseconds(50) }
    client.send("/never")
    try await client.outcomes.wait(count: 1)
    let error = try #require(client.error(of: "/never"))
    #expect(error.code == .answerOverdue)
    #expect(!error.isSafeToRepeat)
    client.send("/")
    try await client.outcomes.wait(count: 2)
    #expect(client.status(of: "/") == 200)
    #expect(playground.server.openConnections.count == 1)
    // The late answer is dropped.
    playground.requests.elements[0].respond(status: 200)
    await playground.serverIsUpToDate()
    client.send("/again")
    try await client.outcomes.wait(count: 3)
    #expect(client.outcomes.elements.map(\.path) == ["/never", "/", "/again"])
    #expect(client.connection.load.openStreams <= 1)
    await playground.stop()
  }

  @Test("Each of many has its own time, and its stream is free again")
  func many() async throws {
    let playground = try Playground(configure: { $0.maximumConcurrentStreams = 3 })
    let client = try playground.client { $0.answerTimeout = .milliseconds(40) }
    for number in 0..<10 { client.send("/\(number)") }
    try await client.outcomes.wait(count: 10)
    for number in 0..<10 { #expect(client.error(of: "/\(number)")?.code == .answerOverdue) }
    await playground.stop()
  }

  @Test("When nothing at all comes from the server it is asked for a sign of life at once")
  func silence() async throws {
    let playground = try Playground(answering: {
      if $0.path == "/first" { $0.respond(status: 200) }
    })
    let client = try playground.client {
      $0.answerTimeout = .milliseconds(50)
      $0.pingTimeout = .milliseconds(50)
      $0.maximumConcurrentStreams = 1
    }
    // After its answer nothing is on its way from the server any more.
    #expect(try await client.exchange(HTTP2Request(method: "GET", path: "/first")).status == 200)
    playground.server.stall(playground.requests.elements[0].connection)
    await playground.serverIsUpToDate()
    client.send("/")
    client.send("/waiting")
    let error = try #require(try await client.ending())
    #expect(error.reason.contains("PING"))
    #expect(client.error(of: "/")?.isSafeToRepeat == false)
    #expect(client.error(of: "/waiting")?.isSafeToRepeat == true)
    #expect(client.outcomes.elements.count == 2)
    await playground.stop()
  }
}
