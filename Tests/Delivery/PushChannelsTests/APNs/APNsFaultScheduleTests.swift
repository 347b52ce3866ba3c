import APNsSimulation
import CloudKitModel
import Foundation
import PropertyTesting
import Testing
import Waiting

@testable import PushChannels

@Suite(.timeLimit(.minutes(3)))
struct APNsFaultScheduleTests {
  /// A step that any script may have, for a bounded number of requests.
  private func step(_ random: inout SeededGenerator) -> APNsFault {
    let times = Int.random(in: 1...4, using: &random)
    let fault: APNsFault =
      switch Int.random(in: 0..<14, using: &random) {
      case 0: .reset(.refusedStream).times(times)
      case 1: .reset(.internalError).times(times)
      case 2: .reset(.enhanceYourCalm).times(times)
      case 3: .disconnect.times(1)
      case 4: .stall.times(times)
      case 5: .freeze.times(1)
      case 6: .delay(seconds: 0.005).times(times * 5)
      case 7: .reject(.serviceUnavailable, retryAfter: times).times(times)
      case 8: .reject(.tooManyRequests).times(times)
      case 9: .reject(.internalServerError).times(times)
      case 10: .set(.streams([1, 2, 10, 100].randomElement(using: &random)!))
      case 11:
        .set(
          .handshakes(
            (0..<times).map { _ in APNsHandshakeFault.allCases.randomElement(using: &random)! }))
      case 12: .set(.readDelay(seconds: 0.001))
      default:
        .goAway(
          gathering: Int.random(in: 1...20, using: &random),
          answering: Int.random(in: 0...20, using: &random), patience: 0.02,
          reason: [nil, .shutdown, .idleTimeout].randomElement(using: &random)!)
      }
    return random.chance(1, in: 2) ? fault.after(Int.random(in: 0...40, using: &random)) : fault
  }

  @Test("all pushes of all clients are delivered, each said once", arguments: Seeds.some(12))
  func schedule(seed: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let steps = (0..<Int.random(in: 3...12, using: &random)).map { _ in step(&random) }
    let streams = [2, 20, 1000].randomElement(using: &random)!
    let startsWithOne = random.chance(1, in: 2)
    let requests = random.chance(1, in: 3) ? Int.random(in: 10...90, using: &random) : nil
    try await SenderFixture.run {
      $0.maximumConcurrentStreams = streams
      $0.startsWithOneStream = startsWithOne
      $0.requestsPerConnection = requests
      $0.script = steps.map { APNsFault.Targeted($0) }
    } _: { fixture in
      let clients = (0..<3).map { _ in
        fixture.client {
          $0.answerTimeout = .milliseconds(150)
          $0.pingTimeout = .milliseconds(150)
          $0.fullnessBeforeConnecting = .milliseconds(1)
          $0.idleTimeout = .milliseconds(5)
          $0.maximumConnections = 3
        }
      }
      let deliveries = Deliveries()
      var given = 0
      while given < 600 {
        let count = Int.random(in: 1...60, using: &random)
        let client = clients.randomElement(using: &random)!
        deliveries.send(fixture.pushes(count), over: client)
        given += count
        let outstanding = Int.random(in: 0...300, using: &random)
        try await eventually("not too many are open") {
          deliveries.finals.count >= given - outstanding
        }
      }
      #expect(try await deliveries.finish() == [.delivered: given], "\(steps)")
      #expect(Set(fixture.simulator.acceptances.keys) == deliveries.identifiers)
      for client in clients {
        try await eventually("the figures come to rest") {
          client.metrics.waiting == 0 && client.metrics.inFlight == 0
        }
        #expect(client.metrics.openConnections <= 3)
        await client.close()
      }
    }
  }
}
