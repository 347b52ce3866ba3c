import Configuration
import Foundation
import JSONCoding
import Testing

/// Quotas and rates at their edges, from many connections at once.
struct LimitEdgeTests {
  private static func quota(_ bytes: Int64) -> ServiceSettings {
    var limits = ServerConfiguration.Limits()
    limits.privateDatabaseBytes = bytes
    return ServiceSettings(limits: limits)
  }

  @Test("of saves that together pass the quota as many win as fit, and no more")
  func saves() async throws {
    for (bytes, winners) in [(6_000, 1), (4_000, 2)] {
      try await onBothEngines(Self.quota(10_000)) { service, clients in
        let answers = try await all(8, to: clients) { client, number in
          let text = String(repeating: "x", count: bytes)
          let operation = Service.operation(
            "create", "n\(number)", #""text": {"value": "\#(text)"}"#)
          return try await client.send(
            "POST", service.target("private/records/modify", as: service.alice),
            body: Data(#"{"operations": [\#(operation)], "atomic": false}"#.utf8))
        }
        let outcomes = answers.flatMap(\.outcomes)
        #expect(outcomes.count { $0 == "ok" } == winners, "\(outcomes)")
        #expect(outcomes.count { $0 == "QUOTA_EXCEEDED" } == 8 - winners, "\(outcomes)")
        // What was let in is there, and what was refused takes no room.
        let names = (0..<8).map { "n\($0)" }
        let found = try await service.post(
          "private/records/lookup",
          #"{"records": [\#(names.map { "\"\($0)\"" }.joined(separator: ","))]}"#,
          as: service.alice)
        #expect(found.outcomes.count { $0 == "ok" } == winners)
        let small = try await service.modify(
          Service.operation("create", "small", #""text": {"value": "x"}"#), in: "private")
        #expect(small.outcomes == ["ok"])
      }
    }
  }

  @Test("of uploads that together pass the quota as many win as fit, and no more")
  func uploads() async throws {
    for (bytes, winners) in [(6_000, 1), (2_500, 4)] {
      try await onBothEngines(Self.quota(10_000)) { service, clients in
        var paths: [String] = []
        for number in 0..<8 {
          let announced = try await service.askForUpload(
            record: "n\(number)", field: "file", in: "private")
          paths.append(try #require(announced.uploadURLs.first))
        }
        let answers = try await all(8, to: clients) { [paths] client, number in
          try await client.send(
            "POST", paths[number], body: Data(repeating: UInt8(number), count: bytes))
        }
        let statuses = answers.map(\.status)
        #expect(statuses.count { $0 == 200 } == winners, "\(answers.map(\.reason))")
        #expect(statuses.count { $0 == 413 } == 8 - winners, "\(answers.map(\.reason))")
      }
    }
  }

  @Test("a bucket gives its burst to fifty connections at once, and not one request more")
  func rates() async throws {
    var limits = ServerConfiguration.Limits()
    // So slow that the test does not see a bucket fill by itself.
    limits.requestRates = [
      .user: RequestRate(perSecond: 0.001, burst: 50),
      .address: RequestRate(perSecond: 0.001, burst: 30),
    ]
    try await onBothEngines(ServiceSettings(limits: limits)) { service, clients in
      // Of those that the rate lets in some may be refused because others of the caller take long, which
      // depends on how busy the machine is.
      func admitted(_ count: Int, as user: TestUser?) async throws -> Int {
        let target = service.target("public/records/lookup", as: user)
        let answers = try await all(count, to: clients) { client, _ in
          try await client.send(
            "POST", target, body: Data(#"{"records": []}"#.utf8))
        }
        for answer in answers where answer.status != 200 {
          #expect(answer.failure == "429 THROTTLED" && answer.headers["retry-after"] != nil)
        }
        return answers.count { $0.status == 200 || !$0.reason.contains(" at once; wait ") }
      }
      #expect(try await admitted(70, as: service.bob) == 50)
      #expect(try await admitted(50, as: nil) == 30)
      // Of exactly as many none is refused, and then each.
      let exact = try await Service.addUser("exact", to: service.store)
      #expect(try await admitted(49, as: exact) == 49)
      #expect(try await admitted(1, as: exact) == 1)
      #expect(try await admitted(2, as: exact) == 0)
    }
  }

  @Test("a quota's last byte can be used, and the one behind it cannot, however many save at once")
  func edge() async throws {
    @Sendable func save(
      _ number: Int, at client: ServiceClient, of service: Service
    ) async throws -> Answer {
      let operation = Service.operation(
        "create", "n\(10 + number)", #""text": {"value": "xxxx"}"#)
      return try await client.send(
        "POST", service.target("private/records/modify", as: service.alice),
        body: Data(#"{"operations": [\#(operation)], "atomic": false}"#.utf8))
    }
    // How large a record of this kind is, by the server's own count.
    var size: Int64 = 0
    try await withService(Self.quota(1)) { service in
      let answer = try await save(0, at: service.client, of: service)
      let needed = answer[0].reason.firstMatch(of: /(\d+) bytes/).flatMap { Int64($0.1) }
      size = try #require(needed, "\(answer[0].reason)")
    }
    for (quota, winners) in [(size, 1), (size - 1, 0), (size * 20, 20), (size * 20 - 1, 19)] {
      try await onBothEngines(Self.quota(quota)) { service, clients in
        let answers = try await all(50, to: clients) { client, number in
          try await save(number, at: client, of: service)
        }
        let outcomes = answers.flatMap(\.outcomes)
        #expect(outcomes.count { $0 == "ok" } == winners, "\(outcomes)")
        #expect(outcomes.count { $0 == "QUOTA_EXCEEDED" } == 50 - winners, "\(outcomes)")
      }
    }
  }
}
