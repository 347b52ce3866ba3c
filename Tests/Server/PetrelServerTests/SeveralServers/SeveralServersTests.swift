import CloudKitModel
import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

struct SeveralServersTests {
  /// The first server is the service's; the other has the same store open.
  private func withTwo(
    pollTime: Double? = nil,
    _ body: (Service, _ other: Server, ServiceClient) async throws -> Void
  ) async throws {
    var settings = ServiceSettings()
    if let pollTime { settings.pollTime = pollTime }
    try await withSecondServer(settings) { service, other in
      try await eventually("the servers know of each other") {
        service.server.membershipMetrics?.servers == 2 && other.membershipMetrics?.servers == 2
      }
      try await body(service, other, ServiceClient(port: other.port))
    }
  }

  private static func subscription(_ id: String, to type: String) -> String {
    """
    {"subscriptionType": "query", "subscriptionID": "\(id)", "firesOn": ["create"],
     "query": {"recordType": "\(type)"}}
    """
  }

  private static func subscribing(_ id: String, to type: String) -> Data {
    Data(
      #"{"operations": [{"operationType": "create", "subscription": \#(subscription(id, to: type))}]}"#
        .utf8)
  }

  @Test("a reader that waits at one gets what was saved, and dispatched, at the other")
  func readers() async throws {
    try await withTwo { service, other, client in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      let reader = try await service.makeReader(as: service.alice)
      for round in 0..<5 {
        async let answer = client.send("GET", reader)
        try await eventually("the reader waits") { other.service.courierReaders.waiting == 1 }
        let saved = try await service.modify(Service.operation("create", "n\(round)"))
        #expect(saved.outcomes == ["ok"])
        let notification = try await answer
        #expect(notification.json["ck"]?["qry"]?["rid"]?.string == "n\(round)")
      }
      // Nobody else has dispatched.
      #expect(other.dispatchMetrics.dispatchedChanges == 0)
      #expect(service.server.dispatchMetrics.dispatchedChanges == 5)
    }
  }

  @Test("a subscription that was saved at one fires on what is saved at the other from then on")
  func subscriptions() async throws {
    try await withTwo { service, other, client in
      let reader = try await service.makeReader(as: service.alice)
      for round in 0..<10 {
        let type = "Type\(round)"
        let answer = try await client.send(
          "POST", service.target("public/subscriptions/modify", as: service.alice),
          body: Self.subscribing("s\(round)", to: type))
        #expect(answer.outcomes == ["ok"])
        let saved = try await service.modify(Service.operation("create", "n\(round)", type: type))
        #expect(saved.outcomes == ["ok"])
        let notification = try await service.poll(reader)
        #expect(notification.json["ck"]?["qry"]?["sid"]?.string == "s\(round)")
      }
    }
  }

  @Test("what is saved at one is dispatched by the other that has the database")
  func word() async throws {
    try await withTwo { service, other, client in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      let reader = try await service.makeReader(as: service.alice)
      // Now the first has the database.
      #expect(try await service.modify(Service.operation("create", "first")).outcomes == ["ok"])
      #expect(try await service.poll(reader).json["ck"]?["qry"]?["rid"]?.string == "first")
      for round in 0..<5 {
        let body = #"{"operations": [\#(Service.operation("create", "n\(round)"))]}"#
        let saved = try await client.send(
          "POST", service.target("public/records/modify", as: service.alice),
          body: Data(body.utf8))
        #expect(saved.outcomes == ["ok"])
        #expect(try await service.poll(reader).json["ck"]?["qry"]?["rid"]?.string == "n\(round)")
      }
      #expect(other.dispatchMetrics.dispatchedChanges == 0)
    }
  }

  @Test("the other goes on with what a server had that stops")
  func stopping() async throws {
    try await withTwo { service, other, client in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      let reader = try await service.makeReader(as: service.alice)
      #expect(try await service.modify(Service.operation("create", "first")).outcomes == ["ok"])
      #expect(try await service.poll(reader).json["ck"]?["qry"]?["rid"]?.string == "first")
      #expect(service.server.membershipMetrics?.leases == 1)
      await service.server.stop()
      try await eventually("the server is no longer known") {
        other.membershipMetrics?.servers == 1
      }
      let body = #"{"operations": [\#(Service.operation("create", "second"))]}"#
      let saved = try await client.send(
        "POST", service.target("public/records/modify", as: service.alice), body: Data(body.utf8))
      #expect(saved.outcomes == ["ok"])
      // That the reader has the first is known to all.
      let notification = try await client.send("GET", reader)
      #expect(notification.json["ck"]?["qry"]?["rid"]?.string == "second")
      #expect(other.dispatchMetrics.dispatchedChanges == 1)
      try await service.restart()
    }
  }

  @Test(
    "a reader whose polls alternate gets each notification once, and its badge counts each once")
  func alternatingPolls() async throws {
    try await withTwo(pollTime: 0) { service, other, client in
      try await service.subscribe(
        """
        {"subscriptionType": "query", "subscriptionID": "all", "firesOn": ["create"],
         "query": {"recordType": "Note"}, "notificationInfo": {"shouldBadge": true}}
        """)
      let reader = try await service.makeReader(as: service.alice)
      for name in ["a", "b", "c", "d", "e"] {
        _ = try await service.modify(Service.operation("create", name), as: service.bob)
      }
      try await service.waitForDispatch(of: 5)
      var got: [String] = []
      for round in 0..<7 {
        let answer = try await (round % 2 == 0 ? service.client : client).send("GET", reader)
        let badge = answer.json["aps"]?["badge"]?.text ?? "-"
        got.append("\(answer.json["ck"]?["qry"]?["rid"]?.string ?? "nothing") \(badge)")
      }
      #expect(got == ["a 1", "b 2", "c 3", "d 4", "e 5", "nothing -", "nothing -"])
    }
  }

  @Test("what went to a reader who had left one server comes at the other")
  func abandonedPolls() async throws {
    try await withTwo { service, other, client in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      let reader = try await service.makeReader(as: service.alice)
      for round in 0..<3 {
        let gone = try client.begin("GET", reader)
        try await eventually("the reader waits") { other.service.courierReaders.waiting == 1 }
        gone.abandon()
        try await eventually("the server has noticed") { other.httpMetrics.requestsUnderWay == 0 }
        _ = try await service.modify(Service.operation("create", "n\(round)"))
        let answer = try await service.poll(reader)
        #expect(answer.json["ck"]?["qry"]?["rid"]?.string == "n\(round)")
      }
    }
  }

  @Test("both are listed, with what each dispatches and what is awaited of it")
  func listing() async throws {
    try await withTwo { service, other, client in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      let listed = try await #require(service.store.servers).listedServers()
      #expect(listed.map(\.leasedDatabases) == [1, 0])
      #expect(listed.map(\.pendingWakeUps) == [0, 0])
      #expect(listed.allSatisfy { $0.secondsLeft > 0 && $0.secondsLeft <= 5 })
      #expect(Set(listed.map(\.description)).count == 2)
    }
  }

  @Test("a public database that is divided is dispatched by both, to readers at either")
  func divided() async throws {
    try await withTwo { service, other, client in
      let database = try await service.store.databases.database(
        at: DatabaseAddress(
          container: Service.container, environment: .development, scope: .public, owner: nil))
      var readers: [String] = []
      // By chance one server has none of them: of eight users in one of 128 runs, of so many in one of 32,768.
      for number in 0..<16 {
        let user = try await Service.addUser("user\(number)", to: service.store)
        try await service.subscribe(Self.subscription("all", to: "Note"), as: user)
        readers.append(try await service.makeReader(as: user))
      }
      try await #require(service.store.servers).partition(database, into: 4)
      try await eventually("each has its share") {
        service.server.membershipMetrics?.parts == 2 && other.membershipMetrics?.parts == 2
      }
      for round in 0..<3 {
        let saved = try await service.modify(Service.operation("create", "n\(round)"))
        #expect(saved.outcomes == ["ok"])
        for (place, reader) in readers.enumerated() {
          let answer =
            place.isMultiple(of: 2)
            ? try await client.send("GET", reader) : try await service.poll(reader)
          #expect(answer.json["ck"]?["qry"]?["rid"]?.string == "n\(round)", "\(place)")
        }
      }
      let logged = [service.server, other].map { $0.dispatchMetrics.loggedNotifications }
      #expect(logged.reduce(0, +) == 48)
      #expect(logged.allSatisfy { $0 > 0 })
      let text = await other.metricsPage().text
      #expect(text.contains("\npetrel_dispatch_parts 2\n"))
    }
  }

  @Test("the page of metrics tells of servers and leases")
  func metrics() async throws {
    try await withTwo { service, other, _ in
      try await service.subscribe(Self.subscription("all", to: "Note"))
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      let text = await service.server.metricsPage().text
      #expect(text.contains("\npetrel_servers 2\n"))
      #expect(text.contains("\npetrel_dispatch_leases 1\n"))
      #expect(text.contains("\npetrel_dispatch_leases_lost_total 0\n"))
      try await eventually("the page tells that notices come") {
        let text = await service.server.metricsPage().text
        return text.contains("\npetrel_server_receives_notifications 1\n")
          && !text.contains("\npetrel_server_notifications_total 0\n")
          && !text.contains("\npetrel_server_looks_total 0\n")
      }
    }
  }

  @Test("a file that one took is downloaded from the other, and by a URL that the other made")
  func assets() async throws {
    try await withTwoServers { service, other in
      let announced = try await service.askForUpload(record: "a", field: "file", in: "private")
      let upload = try #require(announced.uploadURLs.first)
      let uploaded = try await other.send("POST", upload, body: Data("bytes".utf8))
      let asset = try #require(uploaded.json["singleFile"], "\(uploaded.json)")
      let saved = try await service.modify(
        Service.operation("create", "a", #""file": {"value": \#(asset.text)}"#), in: "private")
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      for client in [service.client, other] {
        let found = try await client.send(
          "POST", service.target("private/records/lookup", as: service.alice),
          body: Data(#"{"records": ["a"]}"#.utf8))
        let path = try service.path(found[0].field("file")?["downloadURL"])
        for other in [service.client, other] {
          #expect(try await other.send("GET", path).body == Data("bytes".utf8))
        }
      }
    }
  }
}
