import Foundation
import HTTPService
import Testing
import Waiting
import WebServices

@testable import CloudKit

struct RemoteNotificationsTests {
  private static let token = TokenResponse(
    apnsEnvironment: .development, apnsToken: "t", webcourierURL: "http://c.test/aps?tok=t")

  @Test("Notifications come in order, whatever happens between them")
  func course() async throws {
    let polls = Guarded(0)
    let transport = ScriptedTransport { request, _ in
      guard request.operation == "courier" else { return .ok(Self.token.body) }
      switch polls.withLock({
        $0 += 1
        return $0
      }) {
      case 1: return .ok(Data(#"{"ck":{"nid":"1"},"aps":{"content-available":1}}"#.utf8))
      case 2: return .ok(Data())
      case 3: return .answer(TransportResponse(status: 410, body: Data()))
      case 4: return .failure(TransportFailure(.timedOut, "late"))
      case 5: return .ok(Data(#"{"ck":{"nid":"2"}}"#.utf8))
      default: return .silence
      }
    }
    var ids: [String?] = []
    for try await userInfo in CKContainer.scripted(transport).remoteNotifications() {
      ids.append((userInfo["ck"] as? [String: Any])?["nid"] as? String)
      if ids.count == 1 { #expect((userInfo["aps"] as? [AnyHashable: Any])?.count == 1) }
      if ids.count == 2 { break }
    }
    #expect(ids == ["1", "2"])
    #expect(
      transport.requests.map(\.operation) == [
        "tokens/create", "tokens/register", "courier", "courier", "courier", "tokens/create",
        "tokens/register", "courier", "courier",
      ])
    #expect(
      transport.requests[2].target
        == .courier(URL(string: "http://c.test/aps?tok=t")!, lastEventID: ""))
    #expect(
      try TokenRequest(parsing: try #require(transport.requests[1].body))
        == TokenRequest(apnsEnvironment: .development, apnsToken: "t", clientID: "device"))
  }

  @Test("Registering makes the token known before anything is waited for")
  func register() async throws {
    let transport = ScriptedTransport { request, _ in
      request.operation == "courier" ? .silence : .ok(Self.token.body)
    }
    try await CKContainer.scripted(transport).remoteNotifications().register()
    #expect(transport.requests.map(\.operation) == ["tokens/create", "tokens/register"])
  }

  @Test("Cancelling the task ends the loop and the poll")
  func cancellation() async throws {
    let polling = AsyncStream.makeStream(of: Void.self)
    let transport = ScriptedTransport { request, _ in
      guard request.operation == "courier" else { return .ok(Self.token.body) }
      polling.continuation.yield()
      return .silence
    }
    let container = CKContainer.scripted(transport)
    let task = Task {
      var count = 0
      for try await _ in container.remoteNotifications() { count += 1 }
      return count
    }
    for await _ in polling.stream { break }
    task.cancel()
    #expect(try await task.value == 0)
    try await eventually("the poll is cancelled") { transport.cancellations == 1 }
  }

  @Test("Without a user it throws")
  func unknownUser() async throws {
    let container = CKContainer.scripted { _, _ in
      .error(ServiceError(.authenticationRequired, "sign in"))
    }
    let error = try await #require(throws: CKError.self) {
      for try await _ in container.remoteNotifications() {}
    }
    #expect(error.code == .notAuthenticated)
  }
}
