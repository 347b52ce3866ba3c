import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import DatabaseAPI
@testable import PetrelServer

struct WebCourierTests {
  private static func subscription(_ id: String, _ more: String = "") -> String {
    """
    {"subscriptionType": "query", "subscriptionID": "\(id)", "firesOn": ["create", "update"],
     "query": {"recordType": "Note"}, "notificationInfo": {"alertBody": "New"}\(more)}
    """
  }

  /// Returns the relevant parts of a courier's answer: subscription and record.
  private static func summary(_ answer: Answer) -> String {
    if answer.status != 200 { return answer.failure }
    if answer.body.isEmpty { return "nothing" }
    let query = answer.json["ck"]?["qry"]
    return "\(query?["sid"]?.string ?? "-") \(query?["rid"]?.string ?? "-")"
  }

  @Test("a poll that waits is answered after a save, with aps and ck")
  func longPoll() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription("s"))
      let path = try await service.makeReader(as: service.alice)
      let waiting = try service.client.begin("GET", path)
      try await eventually("the poll must wait") {
        service.server.httpMetrics.requestsUnderWay > 0
      }
      _ = try await service.modify(Service.operation("create", "n"), as: service.bob)
      let answer = try await waiting.answer()
      #expect(Self.summary(answer) == "s n")
      #expect(answer.json["aps"]?["alert"] != nil, "\(answer.json)")
      #expect(answer.json["ck"]?["cid"]?.string == Service.container)
      #expect(answer.json["ck"]?["nid"]?.string != nil)
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
      #expect(answer.headers["cache-control"] == "no-store")
    }
  }

  @Test("one reader hears of what happens in each container that its token is registered for")
  func severalContainers() async throws {
    try await withService { service in
      let elsewhere = "iCloud.com.example.elsewhere"
      func post(_ operation: String, _ body: String, as user: TestUser) async throws -> Answer {
        try await service.client.send(
          "POST",
          service.target(operation, as: user)
            .replacingOccurrences(of: Service.container, with: elsewhere),
          body: Data(body.utf8))
      }
      func save(_ name: String, as user: TestUser) async throws -> Answer {
        try await post(
          "public/records/modify",
          #"{"operations": [\#(Service.operation("create", name))]}"#, as: user)
      }
      try await service.subscribe(Self.subscription("here"))
      let there = #"""
        {"subscriptionType": "query", "subscriptionID": "there", "firesOn": ["create"],
         "query": {"recordType": "Note"}, "notificationInfo": {"shouldBadge": true}}
        """#
      let subscribed = try await post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "create", "subscription": \#(there)}]}"#,
        as: service.bob)
      #expect(subscribed.outcomes == ["ok"], "\(subscribed.json)")
      let path = try await service.makeReader(as: service.alice)
      _ = try await save("early", as: service.alice)
      try await service.waitForDispatch(of: 1)

      let token = try #require(
        path.firstMatch(of: /tok=([^&]+)/).flatMap { String($0.1).removingPercentEncoding })
      let registered = try await post(
        "tokens/register",
        #"{"apnsEnvironment": "development", "apnsToken": "\#(token)", "clientId": "tab"}"#,
        as: service.bob)
      #expect(registered.status == 200, "\(registered.json)")
      // A poll that waits is answered whoever of the two is notified.
      let waiting = try service.client.begin("GET", path)
      try await eventually("the poll must wait") {
        service.server.httpMetrics.requestsUnderWay > 0
      }
      _ = try await save("late", as: service.alice)
      let first = try await waiting.answer()
      #expect(Self.summary(first) == "there late")
      #expect(first.json["ck"]?["cid"]?.string == elsewhere)
      #expect(first.json["ck"]?["ckuserid"]?.string == service.bob.recordName)
      #expect(first.json["aps"]?["badge"] == 1)
      _ = try await service.modify(Service.operation("create", "n"), as: service.bob)
      try await service.waitForDispatch(of: 3)
      _ = try await save("last", as: service.alice)
      try await service.waitForDispatch(of: 4)
      let second = try await service.poll(path)
      #expect(Self.summary(second) == "here n")
      #expect(second.json["ck"]?["cid"]?.string == Service.container)
      let third = try await service.poll(path)
      #expect(Self.summary(third) == "there last")
      #expect(third.json["aps"]?["badge"] == 2)
    }
  }

  @Test("a poll whose time is up gets an empty 200")
  func timeOut() async throws {
    try await withService(.init(pollTime: 0.1)) { service in
      let path = try await service.makeReader(as: service.alice)
      let answer = try await service.poll(path)
      #expect(answer.status == 200 && answer.body.isEmpty)
    }
  }

  @Test("each poll gets one notification, in order, and acknowledges the one before")
  func order() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription("s"))
      let path = try await service.makeReader(as: service.alice)
      for name in ["a", "b", "c"] {
        _ = try await service.modify(Service.operation("create", name), as: service.bob)
      }
      try await service.waitForDispatch(of: 3)
      var got: [String] = []
      for _ in 0..<4 { got.append(Self.summary(try await service.poll(path))) }
      #expect(got == ["s a", "s b", "s c", "nothing"])
    }
  }

  @Test("one change that fires several subscriptions has one nid and one answer for each")
  func severalSubscriptions() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription("one"))
      try await service.subscribe(Self.subscription("two"))
      let path = try await service.makeReader(as: service.alice)
      _ = try await service.modify(Service.operation("create", "n"), as: service.bob)
      let first = try await service.poll(path)
      let second = try await service.poll(path)
      #expect(Set([Self.summary(first), Self.summary(second)]) == ["one n", "two n"])
      #expect(first.json["ck"]?["nid"] == second.json["ck"]?["nid"])
    }
  }

  @Test("the device that made a change gets no answer for it, the user's other reader does")
  func ownDevice() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription("s"))
      let maker = try await service.makeReader(as: service.alice, device: "maker")
      let other = try await service.makeReader(as: service.alice, device: "other")
      _ = try await service.modify(
        Service.operation("create", "n"), as: service.alice, device: "maker")
      try await service.waitForDispatch(of: 1)
      #expect(Self.summary(try await service.poll(maker)) == "nothing")
      #expect(Self.summary(try await service.poll(other)) == "s n")
    }
  }

  @Test("a container may let devices hear of their own changes")
  func ownDeviceIncluded() async throws {
    try await withService(
      .init(pollTime: 0, containers: [Service.container: .init(excludesOriginDevice: false)])
    ) { service in
      try await service.subscribe(Self.subscription("s"))
      let maker = try await service.makeReader(as: service.alice, device: "maker")
      _ = try await service.modify(
        Service.operation("create", "n"), as: service.alice, device: "maker")
      try await service.waitForDispatch(of: 1)
      #expect(Self.summary(try await service.poll(maker)) == "s n")
    }
  }

  @Test("a user hears of his own subscriptions only")
  func ownSubscriptions() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription("a"), as: service.alice)
      let alice = try await service.makeReader(as: service.alice)
      let bob = try await service.makeReader(as: service.bob)
      _ = try await service.modify(Service.operation("create", "n"), as: service.alice)
      try await service.waitForDispatch(of: 1)
      #expect(Self.summary(try await service.poll(bob)) == "nothing")
      #expect(Self.summary(try await service.poll(alice)) == "a n")
    }
  }

  @Test("a reader that moves to another user sees nothing of the first one's log")
  func movedReader() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription("a"), as: service.alice)
      try await service.subscribe(Self.subscription("b"), as: service.bob)
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let token = try #require(made.json["apnsToken"]?.string)
      let path = "/aps?tok=\(Service.escaped(token))"
      _ = try await service.modify(Service.operation("create", "early"))
      try await service.waitForDispatch(of: 2)
      _ = try await service.post(
        "tokens/register", #"{"apnsEnvironment": "development", "apnsToken": "\#(token)"}"#,
        as: service.bob)
      _ = try await service.modify(Service.operation("create", "late"))
      try await service.waitForDispatch(of: 4)
      #expect(Self.summary(try await service.poll(path)) == "b late")
      #expect(Self.summary(try await service.poll(path)) == "nothing")
    }
  }

  @Test("a notification comes again if its reader left before it was sent")
  func readerLeavesBefore() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription("s"))
      let path = try await service.makeReader(as: service.alice)
      for number in 1...10 {
        let gone = try service.client.begin("GET", path)
        try await eventually("the poll must wait") {
          await service.server.metricsPage().text.contains(
            #"petrel_courier_readers{kind="poll"} 1"#)
        }
        gone.abandon()
        // The server has not noticed yet that the reader has left.
        _ = try await service.modify(Service.operation("create", "n\(number)"))
        try await eventually("the server must answer the poll") {
          service.server.httpMetrics.requestsUnderWay == 0
        }
        #expect(Self.summary(try await service.poll(path)) == "s n\(number)")
      }
    }
  }

  @Test("polls that name the last event get each notification until they name it, with its badge")
  func acknowledgingByEvent() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(
        Self.subscription("s").replacingOccurrences(
          of: #""New""#, with: #""New", "shouldBadge": true"#))
      let path = try await service.makeReader(as: service.alice)
      for name in ["a", "b", "c"] {
        _ = try await service.modify(Service.operation("create", name), as: service.bob)
      }
      try await service.waitForDispatch(of: 3)
      var last = ""
      for (name, badge) in [("a", 1), ("b", 2), ("c", 3)] {
        var answer = try await service.poll(path + "&lastEventId=\(last)")
        for _ in 1...2 {
          #expect(Self.summary(answer) == "s \(name)")
          #expect(answer.json["aps"]?["badge"]?.int == Int64(badge))
          try await service.restart()
          answer = try await service.poll(path + "&lastEventId=\(last)")
        }
        last = Service.escaped(try #require(answer.headers["event-id"]))
      }
      let nothing = try await service.poll(path + "&lastEventId=\(last)")
      #expect(Self.summary(nothing) == "nothing")
      #expect(nothing.headers["event-id"] == nil)
      // The cursor of the store is at the end too.
      #expect(Self.summary(try await service.poll(path)) == "nothing")
      let wrong = try await service.poll(path + "&lastEventId=1-2")
      #expect(wrong.status == 400)
      #expect(
        wrong.text.hasPrefix("BAD_REQUEST: Last-Event-ID: '1-2' is not an event of this reader"))
    }
  }

  @Test("a notification that went to a reader who had left comes again")
  func abandonedPoll() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription("s"))
      let path = try await service.makeReader(as: service.alice)
      let gone = try service.client.begin("GET", path)
      try await eventually("the poll must wait") {
        service.server.httpMetrics.requestsUnderWay > 0
      }
      gone.abandon()
      try await eventually("the server must notice") {
        service.server.httpMetrics.requestsUnderWay == 0
      }
      try await eventually("nobody must listen any more") {
        await service.server.metricsPage().text.contains(#"petrel_courier_readers{kind="poll"} 0"#)
      }
      _ = try await service.modify(Service.operation("create", "n"))
      #expect(Self.summary(try await service.poll(path)) == "s n")
    }
  }

  @Test("an unknown token is refused, and so is none")
  func unknownToken() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      let unknown = try await service.poll("/aps?tok=abc")
      #expect(unknown.status == 401)
      #expect(
        unknown.text.hasPrefix(
          "AUTHENTICATION_FAILED: tok: the web courier token is unknown or has expired; "
            + "make a new one with tokens/create ("))
      let none = try await service.poll("/aps")
      #expect(none.status == 400 && none.text.hasPrefix("BAD_REQUEST: tok: is missing ("))
      for answer in [unknown, none] {
        // CloudKit JS would take JSON for a notification.
        #expect(answer.headers["content-type"] == "text/plain; charset=utf-8")
        let uuid = try #require(answer.text.split(separator: "(").last?.prefix(36))
        #expect(lines.containing("uuid=\(uuid)").count == 1)
      }
    }
  }

  @Test("a device's own APNs token is no courier token")
  func deviceToken() async throws {
    try await withService { service in
      let token = String(repeating: "ab", count: 32)
      _ = try await service.post(
        "tokens/register", #"{"apnsEnvironment": "development", "apnsToken": "\#(token)"}"#,
        as: service.alice)
      #expect(try await service.poll("/aps?tok=\(token)").status == 401)
    }
  }

  @Test("a token is dead after twelve hours")
  func expiredToken() async throws {
    try await withService(.init(pollTime: 0)) { service in
      let path = try await service.makeReader(as: service.alice)
      service.clock.advance(bySeconds: 43_190)
      #expect(try await service.poll(path).status == 200)
      service.clock.advance(bySeconds: 20)
      #expect(try await service.poll(path).status == 401)
    }
  }

  @Test("what was given does not come again after a restart; what was not does")
  func restart() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription("s"))
      let path = try await service.makeReader(as: service.alice)
      for name in ["a", "b", "c"] {
        _ = try await service.modify(Service.operation("create", name), as: service.bob)
      }
      try await service.waitForDispatch(of: 3)
      #expect(Self.summary(try await service.poll(path)) == "s a")
      #expect(Self.summary(try await service.poll(path)) == "s b")
      try await service.restart()
      #expect(Self.summary(try await service.poll(path)) == "s c")
      #expect(Self.summary(try await service.poll(path)) == "nothing")
    }
  }

  @Test("stopping the server ends the polls that wait")
  func stopEndsPolls() async throws {
    try await withService { service in
      let paths = [
        try await service.makeReader(as: service.alice),
        try await service.makeReader(as: service.bob),
      ]
      let waiting = try paths.map { try service.client.begin("GET", $0) }
      try await eventually("the polls must wait") {
        service.server.httpMetrics.requestsUnderWay == 2
      }
      // The poll time is 20 seconds, and the server gives requests 10 seconds to end.
      let start = ContinuousClock.now
      try await service.restart()
      #expect(ContinuousClock.now - start < .seconds(9))
      for poll in waiting {
        let answer = try await poll.answer()
        #expect(answer.status == 200 && answer.body.isEmpty)
      }
    }
  }

  @Test("a badge counts what the reader was shown")
  func badge() async throws {
    try await withService { service in
      try await service.subscribe(
        """
        {"subscriptionType": "query", "subscriptionID": "s", "firesOn": ["create"],
         "query": {"recordType": "Note"}, "notificationInfo": {"shouldBadge": true}}
        """)
      let path = try await service.makeReader(as: service.alice)
      _ = try await service.modify(Service.operation("create", "a"))
      _ = try await service.modify(Service.operation("create", "b"))
      #expect(try await service.poll(path).json["aps"]?["badge"] == 1)
      #expect(try await service.poll(path).json["aps"]?["badge"] == 2)
    }
  }

  @Test("changes committed while nothing dispatched them are notified once after the start")
  func dispatchesAfterStart() async throws {
    try await withService(.init(pollTime: 0, starts: false)) { service in
      let store = service.store
      let user = service.alice.recordName
      let database = try await store.databases.database(
        at: DatabaseAddress(
          container: Service.container, environment: .development, scope: .public, owner: nil))
      _ = try await store.subscriptions.modifySubscriptions(
        [
          .save(
            Subscription(
              subscriptionID: "s",
              kind: .query(
                Query(recordType: "Note"), zoneID: nil, options: .firesOnRecordCreation)))
        ], of: user, in: database, timestamp: .now)
      try await store.devices.saveDeviceToken(
        DeviceToken(
          kind: .courier, token: CourierToken.name(of: "reader"), container: Service.container,
          environment: .development, apnsEnvironment: .development, userRecordName: user,
          deviceID: nil, registered: .now))
      for name in ["a", "b"] {
        let outcomes = try await store.records.modifyRecords(
          RecordModification(
            database: database,
            operations: [
              RecordOperation(
                kind: .create, recordID: RecordID(recordName: name), recordType: "Note")
            ], isAtomic: false, origin: ChangeOrigin(userRecordName: user),
            isByAdministrator: false, timestamp: .now))
        guard case .saved = outcomes[0] else {
          Issue.record("\(outcomes)")
          return
        }
      }
      #expect(try await store.outbox.undispatchedDatabases() == [database])

      try service.server.start()
      try await service.waitForDispatch(of: 2)
      #expect(try await store.outbox.undispatchedDatabases().isEmpty)
      var got: [String] = []
      for _ in 0..<3 { got.append(Self.summary(try await service.poll("/aps?tok=reader"))) }
      #expect(got == ["s a", "s b", "nothing"])
    }
  }

  @Test("a reader that an earlier version filed under its token goes on, and a name is no token")
  func earlierReaders() async throws {
    try await withService(ServiceSettings(pollTime: 0)) { service in
      let text = Data((0..<32).map { UInt8($0) }).base64EncodedString()
      func file(as token: String) async throws {
        try await service.store.devices.saveDeviceToken(
          DeviceToken(
            kind: .courier, token: token, container: Service.container,
            environment: .development, apnsEnvironment: .development,
            userRecordName: service.alice.recordName, deviceID: nil, registered: .now,
            expires: .now.advanced(bySeconds: 3600)))
      }
      try await file(as: text)
      #expect(try await service.poll("/aps?tok=\(Service.escaped(text))").status == 200)
      try await file(as: CourierToken.name(of: "other"))
      #expect(try await service.poll("/aps?tok=other").status == 200)
      #expect(try await service.poll("/aps?tok=\(CourierToken.name(of: "other"))").status == 401)
    }
  }
}

extension Service {
  /// Waits until so many notifications were logged since the server's start.
  func waitForDispatch(of count: Int) async throws {
    try await eventually("\(count) notifications must be logged") {
      self.server.dispatchMetrics.loggedNotifications >= count
    }
  }
}
