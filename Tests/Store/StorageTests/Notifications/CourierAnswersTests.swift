import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct CourierAnswersTests {
  /// Runs `body` with two servers; the first has logged notifications for the reader `web`.
  private func withReader(
    notifiedOf names: [String], _ body: (TestStore, TestStore) async throws -> Void
  ) async throws {
    try await ServerGroup.with(servers: 2) { group in
      let (first, second) = (group.servers[0], group.servers[1])
      _ = try await first.subscribe(noteSubscription("s", badge: true))
      try await first.register("web", kind: .courier)
      for name in names { try await first.save(name) }
      try await first.dispatch()
      try await body(first, second)
    }
  }

  private func next(_ test: TestStore) async throws -> CourierEntry? {
    try await test.store.courier.courierEntries(forToken: "web", after: CourierPosition(), limit: 1)
      .first
  }

  private func name(_ entry: CourierEntry?) -> String? {
    entry?.entry.notification.change.record?.recordID.recordName
  }

  @Test("what one server gave is acknowledged at the other, once, however many polls come")
  func acknowledging() async throws {
    try await withReader(notifiedOf: ["a", "b", "c"]) { first, second in
      for (name, badge) in [("a", 1), ("b", 2), ("c", 3)] {
        let given = try #require(try await next(first))
        #expect(self.name(given) == name)
        #expect(given.badge == badge)
        try await first.store.courier.keepCourierAnswer(given.entry, forToken: "web")
        #expect(try await next(second) == given)
        try await withThrowingTaskGroup(of: Void.self) { polls in
          for test in [first, second, first, second] {
            polls.addTask {
              try await test.store.courier.acknowledgeCourierAnswer(ofToken: "web")
            }
          }
          try await polls.waitForAll()
        }
      }
      #expect(try await next(first) == nil)
      #expect(try await next(second) == nil)
    }
  }

  @Test("what a reader left without comes again, and what an event stream has passed does not")
  func withdrawing() async throws {
    try await withReader(notifiedOf: ["a", "b"]) { first, second in
      let answers = first.store.courier
      let given = try #require(try await next(first)).entry
      try await answers.keepCourierAnswer(given, forToken: "web")
      try await second.store.courier.withdrawCourierAnswer(given, forToken: "web")
      try await answers.acknowledgeCourierAnswer(ofToken: "web")
      #expect(name(try await next(second)) == "a")

      try await answers.keepCourierAnswer(given, forToken: "web")
      try await second.store.courier.acknowledgeCourierEntries([given], forToken: "web")
      try await answers.acknowledgeCourierAnswer(ofToken: "web")
      let last = try #require(try await next(second))
      #expect(name(last) == "b")
      #expect(last.badge == 2)
    }
  }

  @Test("nothing that was given before counts for a reader whose token another user has now")
  func movedReader() async throws {
    try await withReader(notifiedOf: ["a"]) { first, second in
      let given = try #require(try await next(first)).entry
      try await first.store.courier.keepCourierAnswer(given, forToken: "web")
      _ = try await second.subscribe(noteSubscription("t", badge: true), as: TestStore.bob)
      try await second.register("web", kind: .courier, user: TestStore.bob, at: 1)
      try await second.save("b")
      try await second.dispatch()
      try await second.store.courier.acknowledgeCourierAnswer(ofToken: "web")
      let next = try #require(try await next(first))
      #expect(name(next) == "b")
      #expect(next.entry.notification.subscriber == TestStore.bob)
      #expect(next.badge == 1)
    }
  }
}
