import Configuration
import JSONCoding
import Testing

struct ThrottlingTests {
  private func settings(
    _ subject: RequestRate.Subject, _ more: (inout ServerConfiguration.Limits) -> Void = { _ in }
  ) -> ServiceSettings {
    var limits = ServerConfiguration.Limits()
    // So slow that the test does not see a bucket fill by itself.
    limits.requestRates = [subject: RequestRate(perSecond: 0.1, burst: 2)]
    more(&limits)
    return ServiceSettings(limits: limits)
  }

  @Test("a user's requests get THROTTLED with the seconds to wait; another user's do not")
  func users() async throws {
    try await withService(settings(.user)) { service in
      for _ in 0..<2 {
        #expect(try await service.get("public/users/caller", as: service.alice).status == 200)
      }
      let answer = try await service.get("public/users/caller", as: service.alice)
      #expect(answer.failure == "429 THROTTLED")
      let wait = try #require(answer.json["retryAfter"]?.int)
      #expect((1...10).contains(wait))
      // CloudKitClient for Kotlin reads no number with a point.
      #expect(String(decoding: answer.body, as: UTF8.self).contains(#""retryAfter":\#(wait)}"#))
      #expect(answer.headers["retry-after"] == "\(wait)")
      #expect(answer.reason.contains("of this user: 0.1 a second are allowed, 2 at once"))
      #expect(answer.json["uuid"]?.string != nil)
      #expect(try await service.get("public/users/caller", as: service.bob).status == 200)
      #expect(service.server.requestMetrics.throttled == 1)
      service.clock.advance(bySeconds: Double(wait))
      #expect(try await service.get("public/users/caller", as: service.alice).status == 200)
      service.clock.advance(bySeconds: 20)
    }
  }

  @Test("anonymous callers count by address, signed-in ones do not")
  func addresses() async throws {
    try await withService(settings(.address)) { service in
      let body = #"{"query": {"recordType": "Note"}}"#
      func query(as user: TestUser?) async throws -> Answer {
        try await service.post("public/records/query", body, as: user)
      }
      _ = try await service.modify(Service.operation("create", "n"))
      for _ in 0..<2 { #expect(try await query(as: nil).status == 200) }
      let answer = try await query(as: nil)
      #expect(answer.failure == "429 THROTTLED")
      #expect(answer.reason.contains("of callers at this address who are not signed in"))
      for _ in 0..<3 { #expect(try await query(as: service.alice).status == 200) }
    }
  }

  @Test("who tries tokens is throttled as well")
  func guesses() async throws {
    try await withService(settings(.address)) { service in
      let stranger = TestUser(name: "x", recordName: "_x", token: "made up")
      var failures: [String] = []
      for _ in 0..<3 {
        failures.append(try await service.get("public/users/caller", as: stranger).failure)
      }
      #expect(
        failures == [
          "401 AUTHENTICATION_FAILED", "401 AUTHENTICATION_FAILED", "429 THROTTLED",
        ])
    }
  }

  @Test("behind a proxy the addresses are those that it tells")
  func proxy() async throws {
    let settings = settings(.address) { $0.clientAddressHeader = "X-Forwarded-For" }
    try await withService(settings) { service in
      func status(_ address: String) async throws -> Int {
        try await service.client.send(
          "GET", service.target("public/users/caller", as: nil),
          headers: "X-Forwarded-For: \(address)\r\n"
        ).status
      }
      var statuses: [Int] = []
      for address in ["1.2.3.4", "1.2.3.4", "1.2.3.4", "1.2.3.5", "1.2.3.5, 1.2.3.4"] {
        statuses.append(try await status(address))
      }
      #expect(statuses == [421, 421, 429, 421, 429])
    }
  }
}
