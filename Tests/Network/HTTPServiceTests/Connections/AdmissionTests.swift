import Foundation
import PropertyTesting
import Testing
import Waiting

@testable import HTTPService

struct AdmissionTests {
  private static let start = ContinuousClock.now

  @Test("a crowd is let in however large it is, as long as nobody of it waits for too long")
  func burst() {
    var admission = Admission(patience: .seconds(2), crowd: 4)
    for count in 0..<10_000 {
      let number = admission.enter(at: Self.start + .microseconds(count))
      #expect(number == count)
    }
    #expect(admission.overdue == 0)
  }

  @Test("when so many have waited for too long nobody is let in until one has its answer")
  func refused() throws {
    var admission = Admission(patience: .seconds(2), crowd: 2)
    let (first, second) = (admission.enter(at: Self.start), admission.enter(at: Self.start))
    let third = admission.enter(at: Self.start + .seconds(2))
    let fourth = admission.enter(at: Self.start + .seconds(2.1))
    #expect(third != nil && fourth == nil)
    admission.leave(try #require(second))
    let fifth = admission.enter(at: Self.start + .seconds(2.1))
    #expect(fifth != nil)
    admission.leave(try #require(first))
    #expect(admission.overdue == 0)
  }

  @Test("one that never has its answer is forgotten when many came after it")
  func stuck() throws {
    var admission = Admission(patience: .seconds(2), crowd: 2)
    var numbers: [Int?] = []
    for _ in 0..<99_999 { numbers.append(admission.enter(at: Self.start)) }
    for number in numbers.dropFirst() { admission.leave(try #require(number)) }
    let later = admission.enter(at: Self.start + .seconds(3))
    admission.leave(try #require(later))
    #expect(admission.overdue == 1, "it counts as long as it is remembered")
    let next = admission.enter(at: Self.start + .seconds(3))
    #expect(admission.overdue == 0)
    for number in [numbers[0], next] { admission.leave(try #require(number)) }
    #expect(admission.overdue == 0)
  }

  @Test("it decides as one who counts all of them each time", arguments: Seeds.some(20))
  func asCounted(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var admission = Admission(patience: .milliseconds(50), crowd: 3)
    var waiting: [(number: Int, began: ContinuousClock.Instant)] = []
    var now = Self.start
    var refusals = 0
    for _ in 0..<6_000 {
      now += .milliseconds(Int.random(in: 0...8, using: &generator))
      if Int.random(in: 0..<20, using: &generator) < 11 {
        let overdue = waiting.count { $0.began < now - .milliseconds(50) }
        let number = admission.enter(at: now)
        #expect((number == nil) == (overdue >= 3))
        if let number { waiting.append((number, now)) } else { refusals += 1 }
      } else if !waiting.isEmpty {
        let isInOrder = Bool.random(using: &generator)
        let place = isInOrder ? 0 : Int.random(in: 0..<waiting.count, using: &generator)
        admission.leave(waiting.remove(at: place).number)
      }
    }
    #expect(refusals > 0)
  }

  @Test("a server that does not keep up says so at once, and goes on when it does")
  func server() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.path.hasSuffix("wait") { await gate.wait() }
      return HTTPResponse()
    }
    try await withServer {
      $0.patience = .milliseconds(20)
      $0.overdueRequests = 2
      $0.rules = { _, path in RequestRules(mayBeOverdue: path.hasPrefix("/work")) }
    } handler: {
      await handler($0)
    } body: { server in
      let polls = try (0..<3).map { _ in try RawClient(port: server.port) }
      for client in polls { try await client.send("GET /poll-wait HTTP/1.1\r\nHost: h\r\n\r\n") }
      let waiting = [try RawClient(port: server.port), try RawClient(port: server.port)]
      for client in waiting {
        try await client.send("GET /work-wait HTTP/1.1\r\nHost: h\r\n\r\n")
      }
      try await eventually("all wait") { gate.waitingCount == 5 }
      let client = try RawClient(port: server.port)
      try await eventually("it is refused") {
        try await client.send("GET /work HTTP/1.1\r\nHost: h\r\n\r\n")
        return try await client.response().status == 503
      }
      var times: Set<Int> = []
      for _ in 0..<40 {
        try await client.send("GET /work HTTP/1.1\r\nHost: h\r\n\r\n")
        times.insert(
          try #require((try await client.response()).headers["retry-after"].flatMap(Int.init)))
      }
      #expect(times.isSubset(of: 2...5))
      #expect(times.count > 1, "who is refused together does not come back together")
      try await client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().status == 200, "others are let in")
      gate.open()
      for client in waiting + polls { #expect(try await client.response().status == 200) }
      try await client.send("GET /work HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().status == 200)
      #expect((server.metrics.refused[.overloaded] ?? 0) > 0)
    }
  }

  @Test("clients that send large bodies leave room for small ones")
  func largeBodies() async throws {
    try await withServer {
      $0.maximumBufferedBytes = 400_000
      // So that no share of an address counts.
      $0.isProxy = { _ in true }
    } handler: { _ in
      HTTPResponse()
    } body: { server in
      let part = String(repeating: "a", count: 100_000)
      let large = try (0..<4).map { _ in try RawClient(port: server.port) }
      for client in large {
        try await client.send(
          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + part)
      }
      try await eventually("the large ones have what they may") {
        server.metrics.bufferedBytes >= 100_000
      }
      let client = try RawClient(port: server.port)
      for _ in 0..<5 {
        try await client.send(
          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n" + part.prefix(10_000))
        #expect(try await client.response().status == 200)
      }
      // The last small one may go a moment after its answer.
      try await eventually("the large ones have half") { server.metrics.bufferedBytes <= 200_000 }
    }
  }
}
