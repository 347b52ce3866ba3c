import CloudKitModel
import Explanation
import Testing
import Waiting

@testable import PetrelServer

/// Subscriptions that should have fired, by all that is known now, and have nothing in the log.
struct UnloggedNotificationTests {
  private func subscribe(_ service: Service, as user: TestUser) async throws {
    try await service.subscribe(
      """
      {"subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
       "zoneWide": true, "query": {"recordType": "Note"}}
      """, as: user)
  }

  private func explain(
    at service: Service, about question: Explainer.Question = .init(),
    until isDone: (ChangeExplanation) -> Bool = { _ in true }
  ) async throws -> ChangeExplanation {
    let database = try await service.store.databases.database(
      at: DatabaseAddress(
        container: Service.container, environment: .development, scope: .public, owner: nil))
    var change: ChangeExplanation?
    try await eventually("the change is as it should be") {
      change = try await Explainer(store: service.store).explain(
        RecordID(recordName: "A"), in: database, about: question
      ).changes.first
      return change.map { $0.dispatched != nil && isDone($0) } == true
    }
    return try #require(change)
  }

  @Test("who could not read the record then and can by now is told that nothing was logged")
  func withheld() async throws {
    try await withService { service in
      try await service.grant(RecordGrants(["_creator": .read, "_icloud": .create]))
      for user in [service.alice, service.bob] { try await subscribe(service, as: user) }
      let saved = try await service.modify(Service.operation("create", "A"))
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      let before = try await explain(at: service) { !$0.notifications.isEmpty }
      #expect(before.silent.flatMap(\.reasons).map(\.code) == [.permission])
      try await eventually("the metric counts it") {
        service.server.dispatchMetrics.withheldNotifications == 1
      }

      try await service.grant(RecordGrants(["_world": .read, "_icloud": .create]))
      for question in [
        Explainer.Question(),
        .init(subscriber: service.bob.recordName, subscriptionID: "notes"),
      ] {
        let after = try await explain(at: service, about: question)
        #expect(after.silent.map(\.subscriber) == [service.bob.recordName])
        let reasons = after.silent.flatMap(\.reasons)
        #expect(reasons.map(\.code) == [.notLogged])
        #expect(reasons.first?.text.contains("could not read the record then") == true)
      }
    }
  }

  @Test("a change that is kept for longer than its notification tells that it is not in the log")
  func trimmed() async throws {
    try await withService { service in
      try await service.restart { $0.changeHistory.age = 100 * 86_400 }
      try await subscribe(service, as: service.alice)
      let saved = try await service.modify(Service.operation("create", "A"))
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      let before = try await explain(at: service) { !$0.notifications.isEmpty }
      #expect(before.silent.isEmpty)

      try await service.store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 31 * 86_400))
      let after = try await explain(at: service)
      #expect(after.notifications.isEmpty)
      #expect(after.silent.map(\.subscriptionID) == ["notes"])
      let reasons = after.silent.flatMap(\.reasons)
      #expect(reasons.map(\.code) == [.notLogged])
      #expect(reasons.first?.text.contains("no longer in the log") == true)
    }
  }
}
