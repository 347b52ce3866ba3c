import CloudKitModel
import Foundation
import PropertyTesting
import PushChannels
import Synchronization
import Testing

@testable import ChangeDispatch

/// Random notifications, answers, pauses and restarts; then all goes well and the books are looked at.
struct DeliveryPropertyTests {
  /// The service behind the routes, which keeps what it did.
  private final class Service: Sendable {
    struct Attempt {
      var identifier: UUID
      /// Whether APNs accepted the push. A push without an answer may have been accepted too.
      var isAccepted: Bool
      /// Whether the worker knows it.
      var isAnswered: Bool
      /// The phase of the history that it was sent in.
      var phase: Int
    }

    private struct State {
      var random: SeededGenerator
      var attempts: [Attempt] = []
      var phase = 0
      var isWell = false
    }

    private let state: Mutex<State>

    init(seed: Int) {
      state = Mutex(State(random: SeededGenerator(seed: seed &+ 1_000_003)))
    }

    var attempts: [Attempt] { state.withLock { $0.attempts } }
    func beginPhase() { state.withLock { $0.phase += 1 } }
    func recover() { state.withLock { $0.isWell = true } }

    func answer(_ push: Push) -> PushAnswer {
      state.withLock { state in
        let die = state.isWell ? 0 : Int.random(in: 0..<100, using: &state.random)
        let answer: PushAnswer =
          switch die {
          case ..<60: .accepted
          case ..<68: .apns(503, "ServiceUnavailable", retryAfter: 5)
          case ..<76: .apns(500, "InternalServerError")
          case ..<82: .apns(429, "TooManyRequests")
          case ..<88: .notSent("no connection")
          default: .unanswered("connection reset")
          }
        let isAccepted = die < 60 || (die >= 88 && Bool.random(using: &state.random))
        state.attempts.append(
          Attempt(
            identifier: push.identifier, isAccepted: isAccepted, isAnswered: die < 88,
            phase: state.phase))
        return answer
      }
    }
  }

  private struct Owed {
    /// The number of its log entry.
    var sequence: Int64
    /// Which deliveries may go in each other's place; nil for one that must arrive itself.
    var group: String?
    var identifier: UUID
  }

  private static let devices = ["aa", "bb", "cc"].map { String(repeating: $0, count: 32) }

  @Test(
    "whatever goes wrong on the way, and however often the server ends", arguments: Seeds.some(10))
  func exactly(seed: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let service = Service(seed: seed)
    let script = ScriptedRoute { push, _ in service.answer(push) }
    let clock = TestClock()
    let interval = Bool.random(using: &random) ? 20.0 : 0
    let capacity = Int.random(in: 1...8, using: &random)
    try await withWorld(inFile: seed.isMultiple(of: 5)) { world in
      for (number, device) in Self.devices.enumerated() {
        try await world.register(
          device, apnsEnvironment: number == 0 ? .production : .development)
      }
      func start() -> RunningWorker {
        RunningWorker(
          world.store.deliveries, clock: clock, route: script, capacity: capacity, stopTime: 0
        ) {
          $0.silentPushInterval = interval
          $0.takingSize = 3
          $0.leaseTime = 15
        }
      }
      var running = start()
      var owed: [Owed] = []
      var ends = 0
      func end() async {
        await running.worker.stop()
        let metrics = running.worker.metrics
        ends += metrics.delivered + metrics.merged
        #expect(metrics.abandoned + metrics.expired + metrics.refused == 0, "seed \(seed)")
      }
      for _ in 0..<Int.random(in: 4...12, using: &random) {
        service.beginPhase()
        switch Int.random(in: 0..<10, using: &random) {
        case ..<6:
          owed += try await Self.owe(in: world, to: running.worker, at: clock.time, &random)
          await running.worker.settled()
        case ..<9:
          clock.advance(bySeconds: Double(Int.random(in: 1...40, using: &random)))
          running.worker.lookForDueDeliveries()
          await running.worker.settled()
        default:
          await end()
          running = start()
        }
      }
      service.recover()
      await end()
      service.beginPhase()
      running = start()
      var rounds = 0
      while try await world.store.deliveries.owedDeliveryCount() > 0, rounds < 80 {
        await running.worker.settled()
        clock.advance(bySeconds: 30)
        running.worker.lookForDueDeliveries()
        rounds += 1
      }
      await running.worker.settled()
      await end()
      #expect(ends == owed.count, "seed \(seed): each has one end")
      Self.check(owed, service.attempts, seed: seed)
    }
  }

  private static func check(_ owed: [Owed], _ attempts: [Service.Attempt], seed: Int) {
    let accepted = Dictionary(grouping: attempts.filter(\.isAccepted), by: \.identifier)
    let known = Set(owed.map(\.identifier))
    #expect(known.count == owed.count)
    #expect(attempts.allSatisfy { known.contains($0.identifier) })
    for identifier in known {
      let count = accepted[identifier]?.count(where: \.isAnswered) ?? 0
      #expect(count <= 1, "seed \(seed): sent again though it was accepted")
    }
    for one in owed where one.group == nil {
      #expect(accepted[one.identifier] != nil, "seed \(seed): \(one.sequence) never arrived")
    }
    let groups = Dictionary(grouping: owed.filter { $0.group != nil }) { $0.group }
    for (group, members) in groups {
      let inOrder = members.sorted { $0.sequence < $1.sequence }
      guard let newest = inOrder.last else { continue }
      #expect(
        accepted[newest.identifier] != nil,
        "seed \(seed): the newest of \(group ?? "") never arrived")
      // Once a newer one has arrived and that is written down, no older one follows it.
      for (place, older) in inOrder.enumerated() {
        guard let last = attempts.last(where: { $0.identifier == older.identifier }) else {
          continue
        }
        for newer in inOrder[(place + 1)...] {
          let arrival = attempts.first {
            $0.identifier == newer.identifier && $0.isAccepted && $0.isAnswered
          }
          guard let arrival else { continue }
          #expect(
            last.phase <= arrival.phase,
            "seed \(seed): \(older.sequence) was sent after \(newer.sequence)")
        }
      }
    }
  }

  private static func owe(
    in world: DispatchWorld, to worker: DeliveryWorker, at time: Timestamp,
    _ random: inout SeededGenerator
  ) async throws -> [Owed] {
    let kind = Int.random(in: 0..<4, using: &random)
    let name = ["plain", "collapsing", "silent-1", "silent-2"][kind]
    let result = try await world.notify(
      Int.random(in: 1...5, using: &random), subscription: name, visible: kind < 2,
      collapseID: kind == 1 ? "k" : nil, worker: worker, at: time)
    return result.logged.flatMap { entry in
      devices.map { device in
        let payload = PushPayload(entry.notification, badge: nil, reader: .apns)
        let push = Push(
          entry.notification, payload: payload, deviceToken: device, topic: "com.example.app",
          issued: entry.logged)
        return Owed(
          sequence: entry.sequence, group: kind == 0 ? nil : name + device,
          identifier: push.identifier)
      }
    }
  }
}
