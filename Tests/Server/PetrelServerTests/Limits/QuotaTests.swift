import Configuration
import Foundation
import JSONCoding
import Testing

struct QuotaTests {
  private static let settings: ServiceSettings = {
    var limits = ServerConfiguration.Limits()
    limits.privateDatabaseBytes = 10_000
    return ServiceSettings(limits: limits)
  }()

  private func operation(_ name: String, _ count: Int) -> String {
    Service.operation(
      "forceUpdate", name,
      #""text": {"value": "\#(String(repeating: "x", count: count))"}"#)
  }

  @Test("a record that does not fit gets QUOTA_EXCEEDED in its place, the others are saved")
  func records() async throws {
    try await withService(Self.settings) { service in
      let answer = try await service.modify(
        operation("a", 4000), operation("b", 9000), operation("c", 4000), in: "private")
      #expect(answer.status == 200)
      #expect(answer.outcomes == ["ok", "QUOTA_EXCEEDED", "ok"])
      #expect(answer[1].reason.contains("its quota is 10000"), "\(answer[1])")
      #expect(answer[1]["limit"] == .int(10_000))
      let full = try await service.modify(operation("d", 4000), in: "private")
      #expect(full.outcomes == ["QUOTA_EXCEEDED"])
      // Neither another user nor the public database has less for that.
      #expect(
        try await service.modify(operation("d", 4000), in: "private", as: service.bob).outcomes
          == ["ok"])
      #expect(try await service.modify(operation("d", 40_000)).outcomes == ["ok"])
      _ = try await service.modify(Service.operation("forceDelete", "a"), in: "private")
      #expect(try await service.modify(operation("d", 4000), in: "private").outcomes == ["ok"])
    }
  }

  @Test("the size is kept over a restart")
  func restart() async throws {
    try await withService(Self.settings) { service in
      _ = try await service.modify(operation("a", 9000), in: "private")
      try await service.restart()
      #expect(
        try await service.modify(operation("b", 2000), in: "private").outcomes
          == ["QUOTA_EXCEEDED"])
    }
  }

  @Test("an upload that does not fit is refused as a whole with 413")
  func assets() async throws {
    try await withService(Self.settings) { service in
      let tokens = #"{"tokens": [{"recordName": "n", "recordType": "Note", "fieldName": "file"}]}"#
      let first = try await service.post("private/assets/upload", tokens, as: service.alice)
      let second = try await service.post("private/assets/upload", tokens, as: service.alice)
      func path(_ answer: Answer) throws -> String {
        let url = try #require(answer.json["tokens"]?.array?.first?["url"]?.string)
        return try #require(URLComponents(string: url)?.path)
      }
      let large = try await service.client.send("POST", path(first), body: Data(count: 10_001))
      #expect(large.failure == "413 QUOTA_EXCEEDED")
      #expect(large.reason.contains("the asset for field 'file'"), "\(large.reason)")
      #expect(large.json["limit"] == .int(10_000))
      let fits = try await service.client.send("POST", path(first), body: Data(count: 10_000))
      #expect(fits.status == 200)
      // What was uploaded counts although no record holds it.
      let more = try await service.client.send("POST", path(second), body: Data(count: 1))
      #expect(more.failure == "413 QUOTA_EXCEEDED")
      let full = try await service.post("private/assets/upload", tokens, as: service.alice)
      #expect(full.failure == "413 QUOTA_EXCEEDED")
    }
  }
}
