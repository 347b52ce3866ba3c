import Testing

@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(1)))
struct SlowServerTests {
  private let body = [UInt8](repeating: 1, count: 4096)

  @Test("A client sends no more than the server has made room for")
  func closedWindow() async throws {
    let playground = try Playground(
      configure: { $0.readDelay = .seconds(3600) },
      answering: { if $0.body.isEmpty { $0.respond(status: 200) } })
    let client = try playground.client()
    for number in 0..<40 { client.send("/\(number)", body: body) }
    // What has no body needs no room; by its answer all has come that has room.
    for _ in 0..<2 {
      let response = try await client.exchange(HTTP2Request(method: "GET", path: "/"))
      #expect(response.status == 200)
    }
    let whole = playground.requests.elements.filter { !$0.body.isEmpty }
    #expect(whole.count == 65_535 / body.count)
    await playground.stop()
  }

  @Test("All arrives in the end when there is room again and again")
  func slowWindow() async throws {
    let playground = try Playground(
      configure: { $0.readDelay = .milliseconds(1) }, answering: { $0.respond(status: 200) })
    let client = try playground.client()
    for number in 0..<200 { client.send("/\(number)", body: body) }
    try await client.outcomes.wait(count: 200)
    #expect(playground.requests.elements.allSatisfy { $0.body == body })
    #expect((0..<200).allSatisfy { client.status(of: "/\($0)") == 200 })
    await playground.stop()
  }

  @Test("The delay can be changed for connections to come")
  func change() async throws {
    let playground = try Playground(answering: { $0.respond(status: 200) })
    playground.server.setReadDelay(.milliseconds(1))
    let client = try playground.client()
    for number in 0..<50 { client.send("/\(number)", body: body) }
    try await client.outcomes.wait(count: 50)
    #expect((0..<50).allSatisfy { client.status(of: "/\($0)") == 200 })
    await playground.stop()
  }
}
