import Foundation
import Testing
import Waiting

@testable import HTTP2Transport

struct ExchangeTests {
  @Test("A request arrives with its fields and body, and its answer comes back whole")
  func exchange() async throws {
    let playground = try Playground(answering: { request in
      request.respond(status: 201, headers: ["x-answer": "yes"], body: request.body.reversed())
    })
    let client = try playground.client()
    var request = HTTP2Request(method: "PUT", path: "/a?b=c", body: [1, 2, 3])
    request.headers.append("x-question", "ä?", indexed: false)
    let response = try await client.exchange(request)
    #expect(response == HTTP2Response(status: 201, headers: ["x-answer": "yes"], body: [3, 2, 1]))

    let received = try #require(playground.requests.elements.first)
    #expect(received.method == "PUT")
    #expect(received.path == "/a?b=c")
    #expect(received.headers[":scheme"] == "https")
    #expect(received.headers[":authority"] == "127.0.0.1:\(playground.server.port)")
    #expect(received.headers["x-question"] == "ä?")
    #expect(received.body == [1, 2, 3])
    await playground.stop()
  }

  @Test("Requests and answers without a body, and with an empty one, are whole")
  func withoutBody() async throws {
    let playground = try Playground(answering: { $0.respond(status: 204) })
    let client = try playground.client()
    let response = try await client.exchange(HTTP2Request(method: "GET", path: "/"))
    #expect(response == HTTP2Response(status: 204))
    await playground.stop()
  }

  @Test("Bodies much larger than the flow-control windows pass in both directions")
  func largeBodies() async throws {
    let playground = try Playground(answering: { $0.respond(status: 200, body: $0.body) })
    let client = try playground.client()
    let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let response = try await client.exchange(HTTP2Request(method: "POST", path: "/", body: body))
    #expect(response.body == body)
    await playground.stop()
  }

  @Test("A body over the server's limit is answered with 413 and does not reach the handler")
  func bodyLimit() async throws {
    let playground = try Playground(
      configure: { $0.maximumBodyBytes = 1000 }, answering: { $0.respond(status: 200) })
    let client = try playground.client()
    for (count, status) in [(1000, 200), (1001, 413), (500_000, 413), (10, 200)] {
      let body = [UInt8](repeating: 7, count: count)
      let response = try await client.exchange(HTTP2Request(method: "POST", path: "/", body: body))
      #expect(response.status == status, "\(count) bytes")
    }
    #expect(playground.requests.elements.count == 2)
    await playground.stop()
  }

  @Test("An answer over the client's limit fails alone, with an unknown fate")
  func answerLimit() async throws {
    let playground = try Playground(answering: { $0.respond(status: 200, body: $0.body + $0.body) })
    let client = try playground.client { $0.maximumResponseBytes = 100_000 }
    let large = HTTP2Request(
      method: "POST", path: "/", body: [UInt8](repeating: 7, count: 60_000))
    let error = await #expect(throws: HTTP2Error.self) { try await client.exchange(large) }
    #expect(error?.code == .answerTooLarge)
    #expect(error?.isSafeToRepeat == false)
    let small = HTTP2Request(method: "POST", path: "/", body: [7])
    #expect(try await client.exchange(small).body == [7, 7])
    await playground.stop()
  }

  @Test("Thousands of requests from many threads each get their own answer")
  func manyRequests() async throws {
    let playground = try Playground(answering: { request in
      request.respond(status: 200, body: Array(request.path.utf8))
    })
    let client = try playground.client()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 { client.send("/\(thread)/\(number)") }
    }
    for (path, outcome) in try await client.outcomes.wait(count: 4000) {
      #expect(try outcome.get().body == Array(path.utf8))
    }
    try await eventually("none waits") { client.connection.load.waiting == 0 }
    await playground.stop()
  }

  @Test("Answers may come later, from another thread, in another order; only the first counts")
  func lateAnswers() async throws {
    let playground = try Playground()
    let client = try playground.client()
    for number in 0..<10 { client.send("/\(number)") }
    let requests = try await playground.requests.wait(count: 10)
    DispatchQueue.concurrentPerform(iterations: 10) { index in
      requests[9 - index].respond(status: 200 + Int(requests[9 - index].path.dropFirst())!)
      requests[9 - index].respond(status: 500)
    }
    try await client.outcomes.wait(count: 10)
    for number in 0..<10 { #expect(client.status(of: "/\(number)") == 200 + number) }
    await playground.stop()
  }
}
