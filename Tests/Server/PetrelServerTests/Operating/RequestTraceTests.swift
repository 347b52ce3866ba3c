import CloudKitModel
import Foundation
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

@Suite(.serialized)
struct RequestTraceTests {
  private static let subscription = """
    {"subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
     "zoneWide": true, "query": {"recordType": "Note"}, "notificationInfo": {"alertBody": "New"}}
    """

  @Test("each line about a save, what it fired and its pushes has the UUID of the save's answer")
  func leadsToPushes() async throws {
    let lines = LogLines()
    try await withPushService(ServiceSettings(log: lines.log(.debug))) { service, push in
      try await service.register(push.subscribe())
      try await service.subscribe(Self.subscription)
      let other = try await service.modify(Service.operation("create", "other"), device: "phone")
      let answer = try await service.modify(
        Service.operation("create", "A"), Service.operation("create", "B"), device: "phone")
      let request = try #require(answer.headers["x-apple-request-uuid"])
      #expect(request != other.headers["x-apple-request-uuid"])
      try await eventually("three pushes are delivered") {
        lines.containing("push delivered").count == 3
      }
      let own = lines.containing("request=\(request)")
      func count(_ beginning: String) -> Int {
        own.filter { $0.hasPrefix("debug \(beginning): ") }.count
      }
      #expect(count("request answered") == 1)
      #expect(count("subscription fired") == 2 && count("push delivered") == 2)
      #expect(own.count == 5, "\(own)")
      #expect(own.filter { $0.contains("record=A") }.count == 2)
      // The same leads from the past change to the request.
      let database = try await service.store.databases.database(
        at: DatabaseAddress(
          container: Service.container, environment: .development, scope: .public, owner: nil))
      let changes = try await service.store.changeHistory.pastChanges(
        of: nil, in: database, before: nil, limit: 9)
      let requests = changes.compactMap(\.change).map {
        "\(RequestUUID(ofNotification: $0.notificationID))"
      }
      #expect(requests.filter { $0 == request }.count == 2)
      #expect(Set(changes.map(\.change.notificationID)).count == 3)
    }
  }

  @Test("a push that failed, and the next try, have it too, with what was answered")
  func failedPush() async throws {
    let lines = LogLines()
    try await withPushService(ServiceSettings(log: lines.log(.debug))) { service, push in
      let browser = try push.subscribe()
      try await service.register(browser)
      push.script([.init(500, [("retry-after", "3600")])], for: browser)
      try await service.subscribe(Self.subscription)
      let answer = try await service.modify(Service.operation("create", "A"), device: "phone")
      let request = try #require(answer.headers["x-apple-request-uuid"])
      try await eventually("the push is to be tried again") {
        let line = lines.containing("debug push to be tried again").first
        return line?.contains("request=\(request)") == true && line?.contains("500") == true
      }
    }
  }

  @Test("each of several zones made by a request is a change of its own")
  func zones() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log(.debug))) { service in
      try await service.subscribe(
        #"{"subscriptionID": "all", "subscriptionType": "database"}"#, in: "private")
      let operations = ["X", "Y"].map {
        #"{"operationType": "create", "zone": {"zoneID": {"zoneName": "\#($0)"}}}"#
      }
      let answer = try await service.post(
        "private/zones/modify", #"{"operations": [\#(operations.joined(separator: ", "))]}"#,
        as: service.alice)
      let request = try #require(answer.headers["x-apple-request-uuid"])
      try await eventually("both are logged") {
        lines.containing("request=\(request)").filter { $0.contains("subscription fired") }.count
          == 2
      }
      let notifications = lines.containing("subscription fired").compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("notification=") }
      }
      #expect(Set(notifications).count == 2)
    }
  }
}
