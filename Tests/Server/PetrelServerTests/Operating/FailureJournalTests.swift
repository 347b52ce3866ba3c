import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import Synchronization
import Testing
import WebServices

@testable import DatabaseAPI
@testable import Logging

/// The lines of a log.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var log: ServerLog { log(.info) }

  func log(_ level: ServerLog.Level) -> ServerLog {
    ServerLog(level: level) { level, message in
      self.lines.withLock { $0.append("\(level) \(message)") }
    }
  }

  func containing(_ text: String) -> [String] {
    lines.withLock { $0.filter { $0.contains(text) } }
  }
}

struct FailureJournalTests {
  @Test("a failed request has a line with its uuid, and no token is in it")
  func requests() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let answer = try await service.post("public/records/query", "{}", as: service.alice)
      let uuid = try #require(answer.json["uuid"]?.string)
      #expect(
        lines.containing(uuid) == [
          "info request failed: uuid=\(uuid) code=BAD_REQUEST status=400 "
            + "request=\(answer.headers["x-apple-request-uuid"] ?? "") method=POST "
            + "path=/database/1/iCloud.com.example.app/development/public/records/query "
            + "caller=\(service.alice.recordName) reason=\"'query' is missing\""
        ])
      let anonymous = try await service.get("public/users/caller", as: nil)
      let second = try #require(anonymous.json["uuid"]?.string)
      #expect(lines.containing(second).first?.contains("caller=anonymous reason=") == true)
      let stranger = TestUser(name: "x", recordName: "_x", token: "secret+token/made=up")
      let failed = try await service.get("public/users/caller", as: stranger)
      let third = try #require(failed.json["uuid"]?.string)
      #expect(lines.containing(third).first?.contains("caller=unknown reason=") == true)
      for secret in [
        service.alice.token, Service.escaped(service.alice.token), "secret", "ckWebAuthToken=",
      ] {
        #expect(lines.containing(secret).isEmpty)
      }
      #expect(service.server.requestMetrics.failed[.authenticationFailed] == 1)
    }
  }

  @Test("each failure has a uuid of its own, also one that is the same each time")
  func uuids() async throws {
    try await withService { service in
      let stranger = TestUser(name: "x", recordName: "_x", token: "unknown")
      var uuids: Set<String> = []
      for _ in 0..<2 {
        let answers = [
          try await service.get("public/users/caller", as: stranger),
          try await service.adminGet("session", key: "unknown"),
          try await service.client.send("GET", "/assets/unknown"),
        ]
        for answer in answers { uuids.insert(try #require(answer.json["uuid"]?.string)) }
      }
      #expect(uuids.count == 6)
    }
  }

  @Test("a failed request of the admin API names its key")
  func adminCaller() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let key = try await service.addAdminKey("laptop")
      let answer = try await service.adminGet("users/show?user=nobody", key: key)
      let uuid = try #require(answer.json["uuid"]?.string)
      let identifier = try await service.store.adminAccess.adminKeys().first?.identifier
      let caller = "caller=admin:\(identifier ?? "") reason="
      #expect(lines.containing(uuid).first?.contains(caller) == true)
    }
  }

  @Test("items that fail have one line for their request, with the first of their uuids")
  func items() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let names = (0..<8).map { "n\($0)" }
      let records = names.map { #"{"recordName": "\#($0)"}"# }.joined(separator: ",")
      let answer = try await service.post(
        "public/records/lookup", #"{"records": [\#(records)]}"#, as: service.alice)
      let uuids = answer.items.compactMap { $0["uuid"]?.string }
      #expect(uuids.count == 8)
      let line = try #require(lines.containing(uuids[0]).first)
      #expect(
        line.contains("items failed: request=") && line.contains(" method=POST path=/database/1/"))
      #expect(line.contains("\(uuids[4])=NOT_FOUND more=3 reason="), "\(line)")
      #expect(service.server.requestMetrics.failedItems[.notFound] == 8)
    }
  }

  @Test("neither a long path nor the secret of an upload URL comes into the log whole")
  func paths() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let long = try await service.client.send("GET", "/" + String(repeating: "p", count: 5000))
      let uuid = try #require(long.json["uuid"]?.string)
      let line = try #require(lines.containing(uuid).first)
      #expect(line.utf8.count < 900)
      _ = try await service.client.send("POST", "/assets/1/upload/thesecret")
      _ = try await service.client.send("GET", "/assets/1/upload/thesecret")
      #expect(lines.containing("thesecret").isEmpty)
      #expect(lines.containing("/assets/…/upload/…").count == 2)
    }
  }

  @Test("what the HTTP server refuses by itself is in the log too")
  func refusals() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let answer = try await service.client.send(
        "POST", service.target("public/records/modify", as: service.alice),
        body: Data(count: (8 << 20) + 1))
      let uuid = try #require(answer.json["uuid"]?.string)
      #expect(
        lines.containing(uuid) == [
          "info request refused: uuid=\(uuid) code=BAD_REQUEST status=413 reason=bodyTooLarge"
        ])
    }
  }

  @Test(
    "why the store failed is in the log, and not in the answer",
    arguments: [
      (StoreError.Code.statementFailed, ServerErrorCode.internalError, "error"),
      (.outcomeUnknown, .serverResponseLost, "error"), (.diskFailed, .tryAgainLater, "error"),
      (.full, .tryAgainLater, "error"), (.unreachable, .tryAgainLater, "info"),
      (.overloaded, .tryAgainLater, "info"),
    ])
  func causes(code: StoreError.Code, answered: ServerErrorCode, level: String) {
    let lines = LogLines()
    let journal = FailureJournal(log: lines.log) { Timestamp(milliseconds: 0) }
    let cause = StoreError(code, "the cable is out (SQLite result 778)", statement: "COMMIT")
    let failure = ServiceError(any: cause)
    #expect(failure.code == answered)
    #expect(!failure.reason.contains("cable"), "\(failure.reason)")
    #expect(failure.retryAfter != nil || answered == .internalError)
    _ = journal.refusal(
      failure, of: HTTPRequest(method: "POST", target: "/x"), RequestInfo(operation: "x"), by: nil,
      because: cause)
    let line = lines.containing(failure.uuid)
    #expect(line.count == 1)
    #expect(line.first?.hasPrefix("\(level) request failed: ") == true, "\(line)")
    #expect(line.first?.contains("the cable is out (SQLite result 778)") == true, "\(line)")
  }

  @Test("a cause that the client was told of is not in the log again")
  func toldCauses() {
    let lines = LogLines()
    let journal = FailureJournal(log: lines.log) { Timestamp(milliseconds: 0) }
    let cause = StoreError(.badContinuation, "the marker is none of this store")
    let failure = ServiceError(any: cause)
    #expect(failure.reason == cause.reason)
    _ = journal.refusal(
      failure, of: HTTPRequest(method: "POST", target: "/x"), RequestInfo(operation: "x"), by: nil,
      because: cause)
    #expect(lines.containing(failure.uuid).count == 1)
    #expect(lines.containing("cause").isEmpty)
    #expect(lines.containing("reason=\"the marker is none of this store\"").count == 1)
  }

  @Test("a long reason is cut, and one that quotes control characters cannot make a line")
  func longReasons() throws {
    let lines = LogLines()
    let journal = FailureJournal(log: lines.log) { Timestamp(milliseconds: 0) }
    let failure = ServiceError(.badRequest, "x\n" + String(repeating: "e\u{301}", count: 5000))
    _ = journal.refusal(
      failure, of: HTTPRequest(method: "POST", target: "/x"), RequestInfo(operation: "x"), by: nil,
      because: failure)
    let line = try #require(lines.containing(failure.uuid).first)
    #expect(line.utf8.count < 1000 && line.contains("…") && !line.contains("\n"), "\(line)")
  }

  @Test("when lines come too fast some are left out and counted")
  func flood() {
    let lines = LogLines()
    let clock = Mutex(Timestamp(milliseconds: 0))
    let journal = FailureJournal(log: lines.log) { clock.withLock { $0 } }
    for _ in 0..<1500 {
      _ = journal.body(of: HTTPRefusal(.tooManyConnections, "busy"))
    }
    #expect(lines.containing("refused").count == 1000)
    clock.withLock { $0 = Timestamp(milliseconds: 1000) }
    _ = journal.body(of: HTTPRefusal(.tooManyConnections, "busy"))
    #expect(lines.containing("leftOut=500").count == 1)
    #expect(journal.metrics.failed[.tryAgainLater] == 1501)
  }
}
