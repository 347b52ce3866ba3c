import Foundation
import Testing
import Waiting
import WebServices

@testable import CloudKit

/// Several receivers of one client's notifications.
struct CourierHubTests {
  /// A courier whose polls a test answers.
  private final class Courier: Sendable {
    private let notifications = Guarded<[String]>([])
    private let token = TokenResponse(
      apnsEnvironment: .development, apnsToken: "t", webcourierURL: "http://c.test/aps?tok=t")

    /// Makes notifications with these IDs.
    func add(_ ids: [String]) { notifications.withLock { $0 += ids } }

    /// The answer to a request: a poll brings one notification, or none.
    func answer(_ request: TransportRequest) -> ScriptedTransport.Outcome {
      guard request.operation == "courier" else { return .ok(token.body) }
      let id = notifications.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      return .ok(id.map { Data(#"{"ck":{"nid":"\#($0)"}}"#.utf8) } ?? Data())
    }
  }

  private let courier = Courier()
  private let transport: ScriptedTransport
  private let container: CKContainer

  init() {
    let courier = courier
    transport = ScriptedTransport { request, _ in courier.answer(request) }
    container = CKContainer.scripted(transport)
  }

  private static func id(_ userInfo: [AnyHashable: Any]?) -> String? {
    (userInfo?["ck"] as? [String: Any])?["nid"] as? String
  }

  /// The numbers of requests by operation, without polls.
  private var requests: [String: Int] {
    transport.requests.reduce(into: [:]) { $0[$1.operation, default: 0] += 1 }
      .filter { $0.key != "courier" }
  }

  /// Joins the hub as an engine does, and returns the IDs that come.
  private func engine(at hub: CourierHub) -> Guarded<[String]> {
    let ids = Guarded<[String]>([])
    let receiver = hub.join { event in
      guard case .notification(let userInfo) = event, let id = Self.id(userInfo) else { return }
      ids.withLock { $0.append(id) }
    }
    hub.ask(for: receiver)
    return ids
  }

  @Test("Two engines and two loops read one courier, and all get each notification")
  func sharing() async throws {
    let hub = try container.client.get().courierHub
    let engines = [engine(at: hub), engine(at: hub)]
    let loops = [container.remoteNotifications(), container.remoteNotifications()]
    for loop in loops { try await loop.register() }
    courier.add(["1", "2", "3"])
    for loop in loops {
      var ids: [String?] = []
      for try await userInfo in loop.prefix(3) { ids.append(Self.id(userInfo)) }
      #expect(ids == ["1", "2", "3"])
    }
    for engine in engines {
      try await eventually("the engine has all") { engine.withLock { $0 } == ["1", "2", "3"] }
    }
    #expect(requests == ["tokens/create": 1, "tokens/register": 1])
  }

  @Test("A loop that is late keeps the latest thousand notifications")
  func lateness() async throws {
    let hub = try container.client.get().courierHub
    let loop = container.remoteNotifications()
    try await loop.register()
    let engine = engine(at: hub)
    let count = CourierReader.limit + 5
    courier.add((1...count).map(String.init))
    try await eventually("the engine has all") { engine.withLock { $0.count } == count }
    var ids: [String?] = []
    for try await userInfo in loop.prefix(CourierReader.limit) { ids.append(Self.id(userInfo)) }
    #expect(ids == (6...count).map(String.init))
  }

  @Test("A loop that was cancelled is followed by one with the same token")
  func pausing() async throws {
    let notifications = container.remoteNotifications()
    for round in 1...3 {
      let task = Task { Self.id(try await notifications.first { _ in true }) }
      courier.add(["\(round)"])
      #expect(try await task.value == "\(round)")
      let cancelled = Task { Self.id(try await notifications.first { _ in true }) }
      cancelled.cancel()
      #expect(try await cancelled.value == nil)
    }
    try await notifications.register()
    #expect(requests == ["tokens/create": 1, "tokens/register": 1])
  }

  /// A transport whose first poll is answered with a notification after the loop was cancelled.
  private final class LateAnswer: WebServicesTransport {
    let loop = Guarded<Task<String?, any Error>?>(nil)
    let courier = Courier()

    func send(
      _ request: TransportRequest,
      completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
    ) -> @Sendable () -> Void {
      if request.operation == "courier" { loop.withLock { $0 }?.cancel() }
      guard case .answer(let answer) = courier.answer(request) else { return {} }
      completion(.success(answer))
      return {}
    }
  }

  @Test("A notification that comes when its loop is cancelled waits for the next loop")
  func lateAnswer() async throws {
    let transport = LateAnswer()
    transport.courier.add(["1"])
    let container = CKContainer(
      identifier: "iCloud.test",
      configuration: PetrelConfiguration(
        serverURL: URL(string: "http://petrel.test")!, deviceID: "device"),
      transport: transport)
    let notifications = container.remoteNotifications()
    let first = transport.loop.withLock { loop in
      let task = Task { Self.id(try await notifications.first { _ in true }) }
      loop = task
      return task
    }
    #expect(try await first.value == nil)
    transport.loop.withLock { $0 = nil }
    #expect(Self.id(try await notifications.first { _ in true }) == "1")
  }

  @Test("Loops that are cancelled when notifications come lose none")
  func cancelledLoops() async throws {
    let hub = try container.client.get().courierHub
    let notifications = container.remoteNotifications()
    try await notifications.register()
    let engine = engine(at: hub)
    let seen = Guarded<[String?]>([])
    for number in 1...300 {
      let loop = Task {
        for try await userInfo in notifications { seen.withLock { $0.append(Self.id(userInfo)) } }
      }
      courier.add(["\(number)"])
      loop.cancel()
      try await loop.value
    }
    try await eventually("the hub has read all") { engine.withLock { $0.count } == 300 }
    let last = Task {
      for try await userInfo in notifications { seen.withLock { $0.append(Self.id(userInfo)) } }
    }
    try await eventually("the loops have seen all") {
      seen.withLock { $0 } == (1...300).map(String.init)
    }
    last.cancel()
    try await last.value
  }

  @Test("A second loop over one sequence is refused")
  func twoLoops() async throws {
    let transport = ScriptedTransport { [courier] request, _ in
      request.operation == "courier" ? .silence : courier.answer(request)
    }
    let notifications = CKContainer.scripted(transport).remoteNotifications()
    let first = Task { Self.id(try await notifications.first { _ in true }) }
    try await eventually("the first loop polls") {
      transport.requests.contains { $0.operation == "courier" }
    }
    let error = await #expect(throws: CKError.self) {
      _ = try await notifications.first { _ in true }
    }
    #expect(error?.code == .internalError)
    first.cancel()
    #expect(try await first.value == nil)
  }
}
