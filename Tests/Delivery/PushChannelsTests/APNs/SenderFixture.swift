import APNsSimulation
import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import PushChannels

/// A simulator and what a client needs to send to it.
struct SenderFixture: Sendable {
  static let keyID = "KEY4567890"
  static let teamID = "TEAM567890"

  let simulator: APNsSimulator
  let key: ES256PrivateKey
  let certificatePath: String
  let loop: EventLoop

  static func run(
    _ change: (inout APNsSimulator.Configuration) -> Void = { _ in },
    _ body: (SenderFixture) async throws -> Void
  ) async throws {
    let key = try ES256PrivateKey()
    var configuration = APNsSimulator.Configuration()
    let path = NSTemporaryDirectory() + "petrel-sender-\(UUID().uuidString).pem"
    configuration.authorityCertificatePath = path
    configuration.keptPushes = 100_000
    configuration.keys = [
      ProviderKey(keyID: keyID, teamID: teamID, publicKey: key.publicKey)
    ]
    change(&configuration)
    let fixture = SenderFixture(
      simulator: try await APNsSimulator.start(configuration), key: key,
      certificatePath: path, loop: try EventLoop(name: "test-sender"))
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(fixture))
    } catch {
      result = .failure(error)
    }
    await fixture.simulator.stop()
    fixture.loop.shutDown()
    try? FileManager.default.removeItem(atPath: path)
    try result.get()
  }

  func client(
    change: (inout APNsClient.Configuration) -> Void = { _ in },
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) -> APNsClient {
    var configuration = APNsClient.Configuration(
      host: "127.0.0.1", port: simulator.port, trust: .certificateFile(certificatePath), key: key,
      keyID: Self.keyID, teamID: Self.teamID)
    change(&configuration)
    return APNsClient(configuration, loop: loop, clock: clock, random: { 0 })
  }

  func pushes(_ count: Int) -> [Push] {
    let notification = NotificationFixture.query(NotificationFixture.info { $0.alertBody = "Bula" })
    var push = Push(
      notification, payload: PushPayload(notification, badge: 1, reader: .apns),
      deviceToken: String(repeating: "0a", count: 32), topic: "com.example.app", issued: .now)
    return (0..<count).map { _ in
      push.identifier = UUID()
      return push
    }
  }
}

extension APNsSimulator {
  /// How often each push was accepted.
  var acceptances: [String: Int] {
    received.filter(\.isAccepted).reduce(into: [:]) {
      $0[$1.headers["apns-id"] ?? "", default: 0] += 1
    }
  }
}

/// The results of the pushes that a test sent.
final class SentPushes: Sendable {
  private let state = Mutex<[UUID: [PushAnswer]]>([:])
  private let count = Mutex(0)

  var results: [UUID: [PushAnswer]] { state.withLock { $0 } }

  func send(_ pushes: [Push], over client: APNsClient) {
    for push in pushes {
      count.withLock { $0 += 1 }
      client.send(push) { result in
        self.state.withLock { $0[push.identifier, default: []].append(result) }
      }
    }
  }

  /// Waits until each push has its result, and checks that none has two.
  @discardableResult
  func finish(
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [PushAnswer] {
    let wanted = count.withLock { $0 }
    try await eventually("each has a result") { self.results.count >= wanted }
    let all = self.results
    #expect(all.values.allSatisfy { $0.count == 1 }, sourceLocation: sourceLocation)
    return all.values.compactMap(\.first)
  }
}

extension PushAnswer {
  var isAccepted: Bool { next == .done }
}
