import KillPoints
import Storage
import StoreModel

/// The forwarding of changes in private databases to the participants of shares.
extension Dispatcher {
  /// The greatest number of participants for whom one lane writes at the same time.
  private static let forwardsAtOnce = 64

  /// Writes the notifications of changes for the participants who see them, in one transaction for
  /// each participant.
  ///
  /// The call ends before the changes are marked as dispatched. After a failure or a crash the
  /// changes are forwarded again, and the store leaves out those that a participant has.
  ///
  /// - Parameter retiring: the changes before `entries` whose dispatch is not stored yet.
  /// - Throws: ``StoreError/Code/outOfOrder`` if another server has committed earlier changes that
  ///   are not dispatched. Nothing is forwarded then.
  func forward(
    _ entries: ArraySlice<OutboxEntry>, after retiring: [MatchedChange], from part: DatabasePart
  ) async throws {
    // Every part of a divided database dispatches each change, so only part 0 forwards it.
    guard part.number == 0, !entries.allSatisfy(\.audience.isEmpty) else { return }
    let forwards = try await store.outbox.forwards(
      of: Array(entries), after: retiring.map(\.entry))
    if forwards.isEmpty { return }
    counters.withLock { $0.waitingForwards += forwards.count }
    var begun = 0
    do {
      try await withThrowingTaskGroup(of: Void.self) { writing in
        for changes in forwards {
          if begun >= Self.forwardsAtOnce { try await writing.next() }
          begun += 1
          writing.addTask {
            defer { self.counters.withLock { $0.waitingForwards -= 1 } }
            try await self.forward(changes)
          }
        }
        try await writing.waitForAll()
      }
    } catch {
      counters.withLock { $0.waitingForwards -= forwards.count - begun }
      throw error
    }
    KillPoint.afterForward.reach()
  }

  /// Writes the notifications for one participant, in transactions of bounded size.
  private func forward(_ changes: [MatchedChange]) async throws {
    var rest = changes[...]
    while let first = rest.first {
      var count = 1
      var firings = first.firings.count
      for next in rest.dropFirst() {
        firings += next.firings.count
        if firings > configuration.firingLimit { break }
        count += 1
      }
      try await complete(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
  }
}
