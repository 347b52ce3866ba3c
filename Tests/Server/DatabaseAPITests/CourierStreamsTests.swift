import Testing
import WebServices

@testable import DatabaseAPI

struct CourierStreamsTests {
  @Test(
    "a user has so many streams and no more; one that ends makes room, and other users have theirs")
  func limit() throws {
    let streams = CourierStreams(limit: 2)
    let first = try streams.open(forToken: "a", of: "alice")
    var second: CourierStreams.Turn? = try streams.open(forToken: "b", of: "alice")
    let error = try #require(throws: ServiceError.self) {
      try streams.open(forToken: "c", of: "alice")
    }
    #expect(error.code == .throttled)
    #expect(error.reason.contains("2 event streams, which is the limit"))
    let other = try streams.open(forToken: "d", of: "bob")
    #expect(streams.count == 3)
    #expect(second?.isCurrent == true)
    second = nil
    #expect(streams.count == 2)
    let third = try streams.open(forToken: "c", of: "alice")
    #expect(first.isCurrent && other.isCurrent && third.isCurrent)
  }

  @Test("at the limit a reader may replace its own stream, whose end changes nothing any more")
  func replacing() throws {
    let streams = CourierStreams(limit: 1)
    var first: CourierStreams.Turn? = try streams.open(forToken: "a", of: "alice")
    let second = try streams.open(forToken: "a", of: "alice")
    #expect(first?.isCurrent == false)
    first = nil
    #expect(second.isCurrent)
    #expect(streams.count == 1)
    #expect(throws: ServiceError.self) { try streams.open(forToken: "b", of: "alice") }
    // Another user has signed in at the same reader.
    let third = try streams.open(forToken: "a", of: "bob")
    #expect(!second.isCurrent && third.isCurrent)
    let fourth = try streams.open(forToken: "b", of: "alice")
    #expect(fourth.isCurrent)
  }
}
