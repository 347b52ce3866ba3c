import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

/// Tests of the entries that a user's notification log still has after the server trimmed it.
struct NotificationRetentionTests {
  /// The names of the records in Alice's log, oldest first, and the token behind them.
  private func log(at service: Service) async throws -> (names: [String], token: String) {
    let answer = try await service.post("notifications/changes", "{}", as: service.alice)
    let entries = try #require(answer.json["notifications"]?.array, "\(answer.json)")
    return (
      entries.compactMap { $0["ck"]?["qry"]?["rid"]?.string },
      try #require(answer.json["syncToken"]?.string)
    )
  }

  /// Saves records, and waits until their notifications are logged.
  private func save(_ names: [String], at service: Service) async throws {
    let logged = service.server.dispatchMetrics.loggedNotifications
    for name in names {
      let answer = try await service.modify(Service.operation("create", name), as: service.bob)
      try #require(answer.outcomes == ["ok"], "\(answer.json)")
    }
    try await eventually("all are logged") {
      service.server.dispatchMetrics.loggedNotifications == logged + names.count
    }
  }

  @Test("a log has no more entries than it may, none that is older, and tokens from before expire")
  func limits() async throws {
    try await withService { service in
      try await service.subscribe(
        """
        {"subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"],
         "query": {"recordType": "Note"}}
        """)
      try await save(["A"], at: service)
      let token = try await log(at: service).token
      try await save(["B", "C", "D", "E", "F"], at: service)
      #expect(try await log(at: service).names == ["A", "B", "C", "D", "E", "F"])
      // A server trims when it starts.
      try await service.restart {
        $0.notificationLog.entries = 4
        $0.notificationLog.age = 2 * 86_400
      }
      try await eventually("the newest four are left") {
        try await log(at: service).names == ["C", "D", "E", "F"]
      }
      let late = try await service.post(
        "notifications/changes", #"{"syncToken": "\#(token)"}"#, as: service.alice)
      #expect(late.json["reasonCode"]?.string == "CHANGE_TOKEN_EXPIRED", "\(late.json)")

      service.clock.advance(bySeconds: 1.5 * 86_400)
      try await save(["G"], at: service)
      await service.server.service.followClock()
      #expect(try await log(at: service).names == ["D", "E", "F", "G"])
      service.clock.advance(bySeconds: 86_400)
      await service.server.service.followClock()
      #expect(try await log(at: service).names == ["G"])
    }
  }
}
