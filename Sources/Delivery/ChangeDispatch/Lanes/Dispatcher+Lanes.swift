import CloudKitModel
import Matching
import StoreModel

/// The state of dispatching a database's changes, or a part's, between batches.
private struct Lane {
  /// The database or the part.
  let part: DatabasePart
  /// The changes without firings, which wait for the next transaction.
  var retiring: [MatchedChange] = []
  /// The sequence number of the last dispatched change. Changes that were read from the outbox may
  /// come again in memory.
  var dispatchedThrough = Int64.min
  /// The working memory for learning.
  var scratch = MatchScratch()
  /// The working memory for matching.
  var group = MatchGroup()
}

/// The dispatch of one lane.
extension Dispatcher {
  /// Does a lane's work until there is no more.
  ///
  /// After a failure the lane starts again from the outbox, after a delay.
  func serve(_ part: DatabasePart) async {
    var lane = Lane(part: part)
    var retry = RetryDelay()
    while true {
      let patience = lane.retiring.isEmpty ? nil : configuration.retirementDelay
      let work = await handover.work(
        of: part, atMost: configuration.batchSize, within: patience)
      do {
        switch work {
        case .dispatch(let entries): try await dispatch(entries, &lane)
        case .catchUp: try await catchUp(&lane)
        case .idle: try await retire(&lane)
        case .yield:
          try await retire(&lane)
          return handover.yield(part)
        case .done: return
        case .stop: return try await retire(&lane)
        }
        succeed(&retry)
      } catch {
        if case .stop = work { return report(.changesWait(in: part.database, error)) }
        lane = Lane(part: part)
        let code = (error as? StoreError)?.code
        if code == .leaseLost, await isAbandoned(part) { return }
        handover.fallBehind(part)
        // Another server has committed earlier changes, which are in the outbox.
        if code == .outOfOrder, membership != nil { continue }
        // A stop cancels the loading of an index.
        if !(error is CancellationError) { await pause(after: error, in: part, &retry) }
      }
    }
  }

  /// Whether another server dispatches the database's changes, so that this one must not.
  private func isAbandoned(_ part: DatabasePart) async -> Bool {
    handover.doubtLease(of: part)
    // If the store fails, the lease stays in doubt, and this server keeps the changes.
    guard let membership, (try? await membership.hasLease(of: part)) == false else { return false }
    return handover.abandon(part)
  }

  /// Dispatches the outbox's changes.
  ///
  /// They are usually the few that another server committed, and one read gets them all.
  private func catchUp(_ lane: inout Lane) async throws {
    counters.withLock { $0.catchUps += 1 }
    try await retire(&lane)
    var sequence = Int64.min
    while !handover.isStopped {
      // The read gets all changes that were committed before this call. A change that is offered
      // after it and read too is skipped.
      handover.beginCatchingUp(lane.part)
      let entries = try await store.outbox.undispatchedChanges(
        in: lane.part, after: sequence, limit: configuration.batchSize)
      if let last = entries.last {
        try await dispatch(entries, &lane)
        sequence = last.sequence
      }
      guard entries.count == configuration.batchSize else { return }
      handover.fallBehind(lane.part)
      if handover.takeTurn(of: lane.part) { return try await retire(&lane) }
    }
  }

  /// Dispatches changes, in transactions of bounded size. Changes without firings stay with the
  /// lane.
  private func dispatch(_ entries: [OutboxEntry], _ lane: inout Lane) async throws {
    let entries = entries.drop { $0.sequence <= lane.dispatchedThrough }
    guard let first = entries.first, let last = entries.last else { return }
    var current = try await indexes.take(for: lane.part)
    defer { indexes.put(current, for: lane.part) }
    current.learn(from: first.change, using: &lane.scratch)
    var pending = PendingTransaction(lane.retiring, limit: configuration.firingLimit)
    lane.retiring = []
    var batch = BatchFirings(entries, in: current.index)
    let before = (lane.group.candidateCount, lane.group.matchedCount)
    defer {
      counters.withLock {
        $0.candidates += lane.group.candidateCount - before.0
        $0.firedCandidates += lane.group.matchedCount - before.1
      }
    }
    let isThrough = try await withThrowingTaskGroup(of: Void.self) { writing in
      for var entry in entries {
        var firings = batch.removeFirst(using: &lane.group)
        let carriesLastValues =
          firings.isEmpty ? false : try await carriesLastValues(entry)
        while let full = pending.add(
          &firings, of: &entry, carriesLastValues: carriesLastValues, prepare: store.outbox.prepare)
        {
          // While one transaction is written, the next one is prepared.
          try await writing.next()
          // The remaining changes are in the outbox.
          if handover.isStopped { return false }
          writing.addTask { try await self.complete(full) }
        }
        // A change counts once for all parts of a database.
        if lane.part.number == 0 { counters.withLock { $0.dispatchedChanges += 1 } }
      }
      try await writing.next()
      return true
    }
    guard isThrough else { return }
    lane.dispatchedThrough = last.sequence
    if pending.firingCount > 0 {
      try await complete(pending.changes)
    } else {
      lane.retiring = pending.changes
      if lane.retiring.count >= configuration.batchSize { try await retire(&lane) }
    }
  }

  /// Whether notifications of a change carry the record's last values: for deletions, if the
  /// container is set up so.
  private func carriesLastValues(_ entry: OutboxEntry) async throws -> Bool {
    guard entry.change.event == .recordDeleted else { return false }
    return configuration.deletionsCarryLastValues(
      try await store.databases.address(of: entry.database).container)
  }

  /// Stores the dispatch of the changes without firings.
  private func retire(_ lane: inout Lane) async throws {
    guard !lane.retiring.isEmpty else { return }
    let changes = lane.retiring
    lane.retiring = []
    try await complete(changes)
  }
}
