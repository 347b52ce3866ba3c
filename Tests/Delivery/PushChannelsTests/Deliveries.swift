import Foundation
import Synchronization
import Testing
import Waiting

@testable import PushChannels

/// Pushes that are sent until they have a final outcome, as the server does it, but without delays.
final class Deliveries: Sendable {
  /// The final state of a push.
  enum Final: Sendable, Hashable {
    case delivered
    case dropped
    case suspended(String)
    case fault(String)
    /// Sent again so often that something must be wrong.
    case exhausted(String)
  }

  private struct State {
    var given: Set<UUID> = []
    var finals: [UUID: [Final]] = [:]
    var results: [PushAnswer] = []
  }

  private static let greatestAttempts = 60
  private let state = Mutex(State())

  /// The `apns-id`s of all pushes, as they stand in the header.
  var identifiers: Set<String> {
    state.withLock { Set($0.given.map { $0.uuidString.lowercased() }) }
  }

  /// Every result of every attempt.
  var results: [PushAnswer] { state.withLock(\.results) }

  var finals: [Final] { state.withLock { $0.finals.values.flatMap(\.self) } }

  func send(_ pushes: [Push], over client: APNsClient) {
    state.withLock { $0.given.formUnion(pushes.map(\.identifier)) }
    for push in pushes { send(push, over: client, attempt: 0) }
  }

  private func send(_ push: Push, over client: APNsClient, attempt: Int) {
    client.send(push) { result in
      self.state.withLock { $0.results.append(result) }
      switch result.next {
      case .retry(.repair, _): self.finish(push, .suspended(result.reason))
      case .retry where attempt < Self.greatestAttempts:
        self.send(push, over: client, attempt: attempt + 1)
      case .retry: self.finish(push, .exhausted("\(result)"))
      case .done: self.finish(push, .delivered)
      case .dropDevice, .refuseDevice: self.finish(push, .dropped)
      case .fault: self.finish(push, .fault(result.reason))
      }
    }
  }

  private func finish(_ push: Push, _ final: Final) {
    state.withLock { $0.finals[push.identifier, default: []].append(final) }
  }

  /// Waits until each push has a final outcome.
  ///
  /// - Returns: how often each outcome came; a push with two counts twice.
  @discardableResult
  func finish() async throws -> [Final: Int] {
    try await eventually("each push has its outcome") {
      self.state.withLock { $0.finals.count == $0.given.count }
    }
    return finals.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }
}
