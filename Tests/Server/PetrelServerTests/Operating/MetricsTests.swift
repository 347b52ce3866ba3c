import Foundation
import HTTPService
import OutboundHTTP
import Testing
import Waiting

@testable import Configuration
@testable import PetrelServer

struct MetricsTests {
  @Test("Prometheus' own checks find nothing wrong with it")
  func promtool() async throws {
    var settings = ServiceSettings()
    settings.containers = [Service.container: .init()]
    settings.webhooks = .init()
    try await withService(settings) { service in
      try await service.doSomething()
      let page = try await service.metrics()
      let verdict = try Promtool.run(["check", "metrics"], input: page)
      #expect(verdict.status == 0 && verdict.text.isEmpty, "\(verdict.text)\n\(page)")
    }
  }

  @Test("what was done is counted, and each step of a notification has its time")
  func counts() async throws {
    try await withService { service in
      try await service.doSomething()
      try await eventually("the change is dispatched") {
        service.server.dispatchMetrics.loggedNotifications == 1
      }
      let page = try await service.metrics()
      let expected = [
        #"petrel_requests_total{operation="records/modify"} 1"#,
        #"petrel_requests_total{operation="records/query"} 1"#,
        #"petrel_requests_total{operation="other"} 2"#,
        #"petrel_request_duration_seconds_count{operation="records/modify"} 1"#,
        #"petrel_request_failures_total{operation="records/query",code="BAD_REQUEST"} 1"#,
        #"petrel_request_failures_total{operation="other",code="NOT_FOUND"} 2"#,
        "petrel_changes_dispatched_total 1", "petrel_notifications_logged_total 1",
        "petrel_change_dispatch_delay_seconds_count 1", "petrel_dispatch_failures_total 0",
        "petrel_store_failures_total 0", #"petrel_store_waiting{kind="write"} 0"#,
        #"petrel_http_refused_total{reason="bodyTooLarge"} 0"#, "petrel_log_lines_lost_total 0",
      ]
      let lines = Set(page.split(separator: "\n").map(String.init))
      for line in expected { #expect(lines.contains(line), "\(line) is not in\n\(page)") }
      for name in [
        "petrel_store_commits_total", #"petrel_store_file_bytes{file="database"}"#,
        "petrel_store_free_bytes", "petrel_store_log_bytes", "petrel_http_connections",
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
        "process_start_time_seconds",
      ] {
        let line = lines.first { $0.hasPrefix(name + " ") }
        let value = line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
        #expect(value > 0, "\(name): \(line ?? "is not there")")
      }
    }
  }

  @Test("matching counts what it looked at and what of it fired, the same of two owners once")
  func candidates() async throws {
    try await withService { service in
      func subscribe(_ id: String, _ title: String, as user: TestUser) async throws {
        try await service.subscribe(
          """
          {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
           "query": {"recordType": "Note", "filterBy": [
             {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "\(title)"}},
             {"fieldName": "price", "comparator": "LESS_THAN",
              "fieldValue": {"value": 5, "type": "INT64"}}]}}
          """, as: user)
      }
      try await subscribe("milk", "Milk", as: service.alice)
      try await subscribe("milk", "Milk", as: service.bob)
      try await subscribe("bread", "Bread", as: service.alice)
      for (name, title, price) in [
        ("a", "Milk", 3), ("b", "Milk", 7), ("c", "Bread", 4), ("d", "Tea", 4),
      ] {
        let fields = """
          "title": {"value": "\(title)"}, "price": {"value": \(price), "type": "INT64"}
          """
        let answer = try await service.modify(Service.operation("create", name, fields))
        try #require(answer.outcomes == ["ok"], "\(answer.json)")
      }
      try await eventually("all is matched and counted") {
        let metrics = service.server.dispatchMetrics
        return metrics.dispatchedChanges == 4 && metrics.candidates >= 3
      }
      let lines = Set(try await service.metrics().split(separator: "\n").map(String.init))
      for line in [
        "petrel_changes_dispatched_total 4", "petrel_notifications_logged_total 3",
        "petrel_match_candidates_total 3", "petrel_match_candidates_fired_total 2",
      ] { #expect(lines.contains(line), "\(line) is not in\n\(lines.sorted())") }
    }
  }

  @Test("shares and participants are counted, and so is what participants are refused")
  func shares() async throws {
    try await withService { service in
      func participant(_ identity: String) -> String {
        """
        {"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
         "userIdentity": \(identity)}
        """
      }
      try await service.makeZone("Notes")
      let saved = try await service.modify(
        """
        {"operationType": "create", "record": {"recordName": "cloudkit.zoneshare",
         "recordType": "cloudkit.share", "zoneID": {"zoneName": "Notes"}, "fields": {},
         "participants": [
           \(participant(#"{"userRecordName": "\#(service.bob.recordName)"}"#)),
           \(participant(#"{"lookupInfo": {"emailAddress": "eve@example.com"}}"#))]}}
        """, in: "private")
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      let guid = try #require(saved[0]["shortGUID"]?.string)
      for link in [guid, "none"] {
        _ = try await service.post(
          "public/records/accept", #"{"shortGUIDs": ["\#(link)"]}"#, as: service.bob)
      }
      let zoneID =
        #"{"zoneName": "Notes", "ownerRecordName": "\#(service.alice.recordName)"}"#
      for name in ["a", "b"] {
        let refused = try await service.post(
          "shared/records/modify",
          """
          {"zoneID": \(zoneID), "operations": [{"operationType": "create", "record":
            {"recordName": "\(name)", "recordType": "Note", "fields": {}}}]}
          """, as: service.bob)
        #expect(refused.outcomes == ["ACCESS_DENIED"], "\(refused.json)")
      }
      // The same failures elsewhere are no participant's.
      let elsewhere = try await service.post(
        "private/records/lookup", #"{"records": [{"recordName": "none"}]}"#, as: service.bob)
      #expect(elsewhere.outcomes == ["NOT_FOUND"])
      await service.server.service.followClock()
      let lines = Set(try await service.metrics().split(separator: "\n").map(String.init))
      for line in [
        "petrel_shares 1", #"petrel_share_participants{state="accepted"} 1"#,
        #"petrel_share_participants{state="invited"} 1"#,
        #"petrel_participant_refusals_total{code="ACCESS_DENIED"} 2"#,
        #"petrel_participant_refusals_total{code="NOT_FOUND"} 1"#,
      ] { #expect(lines.contains(line), "\(line) is not in\n\(lines.sorted())") }
    }
  }

  @Test("paths that no operation has do not become names of their own")
  func names() async throws {
    try await withService { service in
      for (path, name) in [
        ("/database/1/iCloud.a/development/public/records/modify", "records/modify"),
        ("/database/1/iCloud.a/development/private/users/lookup/email", "users/lookup/email"),
        ("/database/1/iCloud.a/development/tokens/create", "tokens/create"),
        ("/device/1/iCloud.a/development/tokens/create", "tokens/create"),
        ("/device/1/iCloud.a/development/public/tokens/create", "tokens/create"),
        ("/database/1/iCloud.a/development/public/records/modify/", "other"),
        ("/database/1/iCloud.a/development/public/records/nothing", "other"),
        ("/database/1/iCloud.a/development/public", "other"), ("/database", "other"),
        ("/", "other"), ("", "other"), ("/x/y", "other"), ("/aps", "aps"),
        ("/assets/1/upload/secret", "assets"), ("/sign-in/from/apple", "sign-in"),
        ("/share/secret", "share"),
      ] {
        let route = service.server.service.routes.route("POST", path)
        #expect(route.metricsName(ofPath: path) == name, "\(path)")
      }
    }
  }

  @Test("programs on the same machine may read it, others only with the token or from the networks")
  func access() throws {
    var configuration = ServerConfiguration(dataDirectory: "/nowhere")
    func admits(_ address: String, _ headers: [(name: String, value: String)] = []) -> Bool {
      OperatorAccess(configuration).admits(
        HTTPRequest(method: "GET", target: "/metrics", headers: headers, remoteAddress: address))
    }
    #expect(admits("127.0.0.1") && admits("::1") && admits("::ffff:127.0.0.1"))
    #expect(!admits("10.1.2.3") && !admits("::ffff:10.1.2.3") && !admits(""))
    // A proxy on the same machine brings requests from anywhere.
    for name in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "via"] {
      #expect(!admits("127.0.0.1", [(name, "127.0.0.1")]))
    }
    configuration.metrics.networks = [try #require(IPNetwork("10.1.0.0/16"))]
    configuration.metrics.token = "0123456789abcdef"
    #expect(admits("10.1.2.3") && !admits("10.2.0.1"))
    #expect(admits("192.0.2.1", [("authorization", "Bearer 0123456789abcdef")]))
    #expect(!admits("192.0.2.1", [("authorization", "Bearer 0123456789abcde")]))
    #expect(!admits("192.0.2.1", [("authorization", "0123456789abcdef")]))
    configuration.limits.clientAddressHeader = "X-Forwarded-For"
    #expect(admits("127.0.0.1", [("X-Forwarded-For", "192.0.2.1, 10.1.2.3")]))
    #expect(!admits("127.0.0.1", [("X-Forwarded-For", "10.1.2.3, 192.0.2.1")]))
    #expect(!admits("127.0.0.1", [("X-Forwarded-For", "nonsense")]))
  }

  @Test("who may not read it is told why, and a wrong method is refused")
  func refusals() async throws {
    try await withService { service in
      let refused = try await service.client.send(
        "GET", "/metrics", headers: "X-Forwarded-For: 192.0.2.1\r\n")
      #expect(refused.status == 403)
      #expect(String(decoding: refused.body, as: UTF8.self).contains("the key 'metrics'"))
      let wrong = try await service.client.send("POST", "/metrics")
      #expect(wrong.status == 405 && wrong.headers["allow"] == "GET, HEAD")
    }
  }
}

extension Service {
  func metrics() async throws -> String {
    let answer = try await client.send("GET", "/metrics")
    #expect(answer.status == 200)
    #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    return String(decoding: answer.body, as: UTF8.self)
  }

  /// A change that fires, and requests that fail.
  fileprivate func doSomething() async throws {
    try await subscribe(
      #"{"subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"], "#
        + #""query": {"recordType": "Note"}}"#)
    _ = try await modify(Self.operation("create", "n"), as: bob)
    _ = try await post("public/records/query", "{}", as: alice)
    _ = try await post("public/records/nothing", "{}", as: alice)
    _ = try await client.send("GET", "/nothing")
  }
}
