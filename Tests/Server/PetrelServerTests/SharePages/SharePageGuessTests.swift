import CloudKitModel
import Foundation
import Synchronization
import Testing
import WebServices

@testable import DatabaseAPI
@testable import Logging

/// The protection of links against guesses: rates, times and the log.
struct SharePageGuessTests {
  @Test("an address opens some links at once, and then has to wait, whatever the links are")
  func rate() async throws {
    try await SharePageWorld.run { world in
      world.service.clock.stop()
      let guid = try await world.share(world.inviting())
      var statuses: [Int: Int] = [:]
      var last: Answer?
      for number in 0..<102 {
        let answer = try await world.service.client.send(
          "GET", world.path(number.isMultiple(of: 2) ? guid : "unknown\(number)"))
        statuses[answer.status, default: 0] += 1
        last = answer
      }
      #expect(statuses == [200: 100, 429: 2])
      #expect(last?.headers["retry-after"] == "1")
      #expect(last?.headers["cache-control"] == "no-store")
      world.service.clock.advance(bySeconds: 0.2)
      #expect(try await world.service.client.send("GET", world.path(guid)).status == 200)
    }
  }

  @Test("a user's rate counts on the page too")
  func rateOfUser() async throws {
    var settings = ServiceSettings()
    settings.limits.requestRates[.user] = .init(perSecond: 1, burst: 2)
    try await SharePageWorld.run(nil, settings) { world in
      world.service.clock.stop()
      let browser = SignInBrowser(world.service)
      var statuses = [try await world.signIn("bob", at: "unknown", browser).status]
      for _ in 0..<2 { statuses.append(try await browser.get("/share/unknown").status) }
      #expect(statuses == [404, 404, 429])
      world.service.clock.advance(bySeconds: 60)
    }
  }

  @Test("a refusal takes a whole number of steps, however long the search took")
  func pace() {
    let step = RefusalPace.step
    #expect(RefusalPace.pause(after: .zero) == step)
    #expect(RefusalPace.pause(after: step / 4) == step - step / 4)
    #expect(RefusalPace.pause(after: step) == step)
    #expect(RefusalPace.pause(after: step * 5 / 2) == step / 2)
  }

  @Test("an answer of the protocol waits too if it refuses a link, whether there is one or not")
  func paceOfOperations() async throws {
    try await SharePageWorld.run { world in
      let service = world.service
      let guid = try await world.share(world.inviting())
      func waits(
        _ operation: String, _ guid: String, as user: TestUser
      ) async throws -> Bool {
        let pace = AnswerPace()
        var context = RequestContext(
          path: ServicePath(
            container: Service.container, environment: .development, scope: .private,
            operation: operation),
          credentials: Credentials(caller: .user(userRecordName: user.recordName)),
          excludesOriginDevice: false, refusesEqualSubscriptions: false,
          body: Data(#"{"shortGUIDs": [{"value": "\#(guid)"}]}"#.utf8), now: service.clock.read())
        context.pace = pace
        _ = try await service.operations.operation(named: operation).respond(context)
        return pace.isNeeded
      }
      let carol = try await Service.addUser("carol", to: service.store)
      for operation in ["records/resolve", "records/accept"] {
        #expect(try await waits(operation, guid, as: carol))
        #expect(try await waits(operation, "invented", as: carol))
        #expect(try await waits(operation, String(guid.dropLast()), as: carol))
        #expect(try await !waits(operation, guid, as: service.bob))
      }
      for guid in [guid, "invented"] {
        #expect(try await waits("records/requestAccess", guid, as: carol))
      }
    }
  }

  @Test("the log has hashes in place of links")
  func log() async throws {
    let lines = Mutex<[String]>([])
    var settings = ServiceSettings()
    settings.log = ServerLog(level: .debug) { _, line in lines.withLock { $0.append(line) } }
    try await SharePageWorld.run(nil, settings) { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("bob", at: guid, browser)
      _ = try await world.press("accept", on: page, of: guid, browser)
      try await world.endShare()
      #expect(try await browser.get(world.path(guid)).status == 404)
      _ = try await world.service.client.send("OPTIONS", world.path(guid))
      let text = lines.withLock { $0.joined(separator: "\n") }
      #expect(!text.contains(guid))
      #expect(text.contains("share=\(ShareURL.hash(of: guid))"), "\(text)")
    }
  }
}
