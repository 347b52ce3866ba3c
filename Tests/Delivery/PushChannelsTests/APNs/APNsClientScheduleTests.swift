import APNsSimulation
import CloudKitModel
import Foundation
import PropertyTesting
import Testing
import Waiting

@testable import PushChannels

@Suite(.timeLimit(.minutes(2)))
struct APNsClientScheduleTests {
  @Test(
    "whatever happens, each push has one result, and those told as accepted were accepted",
    arguments: Seeds.some(12))
  func schedule(seed: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 3, 50].randomElement(using: &random)!
    let requests = random.chance(1, in: 2) ? Int.random(in: 1...60, using: &random) : nil
    let startsWithOne = random.chance(1, in: 2)
    try await SenderFixture.run {
      $0.maximumConcurrentStreams = limit
      $0.startsWithOneStream = startsWithOne
      $0.requestsPerConnection = requests
    } _: { fixture in
      let client = fixture.client(change: { $0.capacity = 500 })
      let sent = SentPushes()
      var given = 0
      for _ in 0..<12 {
        let fault: APNsFault =
          [
            .reset(.refusedStream), .reset(.internalError), .disconnect, .goAway,
            .reject(.serviceUnavailable), .reject(.expiredProviderToken), .delay(seconds: 0.01),
          ].randomElement(using: &random)!
        fixture.simulator.script(fault.times(Int.random(in: 1...3, using: &random)))
        let count = Int.random(in: 1...40, using: &random)
        sent.send(fixture.pushes(count), over: client)
        given += count
        switch Int.random(in: 0..<6, using: &random) {
        case 0: fixture.simulator.cutConnections()
        case 1: fixture.simulator.endConnections()
        case 2: try await sent.finish()
        default: break
        }
      }
      if random.chance(1, in: 3) { await client.close() }
      try await sent.finish()
      let acceptances = fixture.simulator.acceptances
      #expect(sent.results.count == given, "seed \(seed)")
      for (identifier, results) in sent.results {
        let count = acceptances[identifier.uuidString.lowercased(), default: 0]
        #expect(results.count == 1, "seed \(seed), \(identifier)")
        let isAccepted = results[0].isAccepted
        let isOpen = results[0].reach == .unanswered
        // One whose fate is unknown may have been accepted; all others are known.
        #expect(isOpen ? count <= 1 : count == (isAccepted ? 1 : 0), "seed \(seed), \(results)")
      }
      try await eventually("all are answered") { client.metrics.inFlight == 0 }
      #expect(client.metrics.waiting == 0, "seed \(seed)")
      await client.close()
    }
  }
}
