import Configuration
import DatabaseAPI
import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

/// Requests with large bodies, of which the server sees the head before it receives the body.
struct HeadRefusalTests {
  /// A request whose body is announced and not sent: the answer to a client that waits for leave.
  private func answerToHead(
    _ method: String, _ target: String, headers: String = "", of service: Service
  ) async throws -> Answer {
    let exchange = try service.client.begin(
      method, target, headers: headers + "Expect: 100-continue\r\n", announcing: 200_000)
    return try await exchange.answer()
  }

  @Test("what the head is enough for is refused without a body, as with a whole one")
  func refusals() async throws {
    var settings = ServiceSettings()
    settings.containers = [Service.container: .init()]
    settings.limits.privateDatabaseBytes = 100_000
    try await withService(settings) { service in
      let modify = service.target("private/records/modify", as: service.alice)
      let signed = """
        X-Apple-CloudKit-Request-KeyID: 00\r
        X-Apple-CloudKit-Request-ISO8601Date: 2026-03-01T09:30:00Z\r
        X-Apple-CloudKit-Request-SignatureV1: AA==\r\n
        """
      let full = try #require(
        try await service.askForUpload(record: "n", field: "file", in: "private").uploadURLs.first)
      let cases = [
        ("POST", service.target("private/records/mend", as: service.alice), "", "NOT_FOUND"),
        ("PUT", modify, "", "BAD_REQUEST"),
        ("POST", modify.replacing(Service.container, with: "iCloud.other"), "", "BAD_CONTAINER"),
        (
          "POST", modify.replacing("ckWebAuthToken=", with: "ckWebAuthToken=x"), "",
          "AUTHENTICATION_FAILED"
        ),
        ("POST", service.target("private/records/modify", as: nil), "", "AUTHENTICATION_REQUIRED"),
        ("POST", service.target("public/records/modify", as: nil), signed, "AUTHENTICATION_FAILED"),
        ("POST", modify, "Content-Encoding: gzip\r\n", "BAD_REQUEST"),
        ("POST", "/assets/anything", "", "NOT_FOUND"),
        ("POST", full.replacing("/upload/", with: "/upload/x"), "", "NOT_FOUND"),
        ("POST", "/admin/v1/overview", "", ""),
      ]
      for (method, target, headers, code) in cases {
        let early = try await answerToHead(method, target, headers: headers, of: service)
        let whole = try await service.client.send(
          method, target, headers: headers, body: Data("{}".utf8))
        #expect(early.status == whole.status, "\(target)")
        #expect(early.failure == whole.failure, "\(target) \(early.json) \(whole.json)")
        if !code.isEmpty { #expect(early.failure.hasSuffix(code), "\(target) \(early.failure)") }
      }
      // The announced length alone does not fit into the quota.
      let early = try await answerToHead("POST", full, of: service)
      #expect(early.failure.hasSuffix("QUOTA_EXCEEDED"), "\(early.json)")
    }
  }

  @Test("an upload with an invented secret stores no byte, and one that was announced does")
  func uploads() async throws {
    try await withService { service in
      let directory = try #require(service.store.assets.files.arrivals)
      let url = try #require(
        try await service.askForUpload(record: "n", field: "file").uploadURLs.first)
      let files = { try FileManager.default.contentsOfDirectory(atPath: directory) }
      let invented = try service.client.begin(
        "POST", url.replacing("/upload/", with: "/upload/x"), body: Data(count: 60_000),
        announcing: 60_001)
      try await eventually("it is under way") { service.server.httpMetrics.requestsUnderWay == 1 }
      let announced = try service.client.begin(
        "POST", url, body: Data(count: 50_000), announcing: 50_001)
      try await eventually("one is received") { service.server.httpMetrics.spooledBytes == 50_000 }
      let names = try files()
      #expect(names.count { $0.hasPrefix("body-") } == 1, "\(names)")
      invented.abandon()
      announced.abandon()
    }
  }

  @Test("a signed request with a large body is checked with its body, once, and within its window")
  func signatures() async throws {
    try await withService { service in
      let key = try await ServerKeyClient(service)
      let spaces = String(repeating: " ", count: 100_000)
      _ = try await service.modify(Service.operation("create", "n"))
      let query = #"{"query": {"recordType": "Note"}}"# + spaces
      #expect(try await key.post("public/records/query", query).status == 200)
      var forged = try key.request("public/records/query", query)
      forged.body += " "
      #expect(try await key.send(forged).failure.hasSuffix("AUTHENTICATION_FAILED"))
      let empty = #"{"operations": []}"# + spaces
      let change = try key.request("public/subscriptions/modify", empty)
      #expect(try await key.send(change).failure != "503 TRY_AGAIN_LATER")
      let again = try await key.send(change)
      #expect(again.json.errorCode == "TRY_AGAIN_LATER", "\(again.json)")
      // The head comes within the window, the last byte of the body after it.
      let late = try key.request("public/records/query", query)
      let exchange = try service.client.begin(
        "POST", late.target, headers: late.headers, body: Data(query.utf8.dropLast()),
        announcing: query.utf8.count)
      try await eventually("the body is received") {
        service.server.httpMetrics.bufferedBytes == query.utf8.count - 1
      }
      service.clock.advance(bySeconds: 601)
      exchange.send(Data(" ".utf8))
      #expect(try await exchange.answer().failure.hasSuffix("AUTHENTICATION_FAILED"))
    }
  }

  @Test("a request with a large body counts once for its rate, and is refused above it by its head")
  func rates() async throws {
    var settings = ServiceSettings()
    settings.limits.requestRates[.user] = RequestRate(perSecond: 0.001, burst: 3)
    try await withService(settings) { service in
      let target = service.target("private/records/lookup", as: service.bob)
      let body = Data(
        (#"{"records": [{"recordName": "n"}]"# + String(repeating: " ", count: 100_000) + "}").utf8)
      for _ in 0..<3 {
        let answer = try await service.client.send("POST", target, body: body)
        #expect(answer.status == 200)
      }
      #expect(try await answerToHead("POST", target, of: service).failure == "429 THROTTLED")
    }
  }
}
