import CloudKitModel
import Matching
import StoreModel

/// The data that the dispatcher keeps between two batches of one lane. A lane is the dispatch of
/// one database, or of one part of a divided database: some of its subscribers.
private struct Lane {
  /// The database or the part.
  let part: DatabasePart
  /// The matched changes without firings (matching subscriptions) whose dispatch is not stored yet.
  /// The next transaction of the lane stores their dispatch.
  var retiring: [MatchedChange] = []
  /// The sequence number of the last dispatched change. The lane can get a change twice: from the
  /// outbox, and then from memory. `dispatch` skips the second copy.
  var dispatchedThrough = Int64.min
  /// The working memory for learning.
  var scratch = MatchScratch()
  /// The working memory for matching.
  var group = MatchGroup()
}

/// The dispatch of one lane.
extension Dispatcher {
  /// Does a lane's work until no work is left, other lanes wait, another server has the lease, or
  /// the dispatcher stops. ``LaneSchedule/Work`` describes the kinds of work.
  ///
  /// After a failure of the store, the lane waits, and then reads its changes from the outbox.
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
        // This is no failure: another server has committed earlier changes. The lane reads the
        // outbox at once, without a delay.
        if code == .outOfOrder, membership != nil { continue }
        // A stop of the dispatcher cancels the reading of an index. The error is then a
        // `CancellationError`, which needs no report and no delay.
        if !(error is CancellationError) { await pause(after: error, in: part, &retry) }
      }
    }
  }

  /// Stops serving the lane if another server has its lease. Removes the lane's changes from memory
  /// in any case.
  ///
  /// - Returns: `true` if the lane is no longer served. `false` if this server has the lease, if
  ///   the store fails, or if changes were added meanwhile. The added changes belong to this
  ///   server.
  private func isAbandoned(_ part: DatabasePart) async -> Bool {
    handover.doubtLease(of: part)
    // If the store fails, this server continues to serve the lane, and reads the changes from the
    // outbox.
    guard let membership, (try? await membership.hasLease(of: part)) == false else { return false }
    return handover.abandon(part)
  }

  /// Dispatches the changes in the outbox, batch by batch.
  ///
  /// In a cluster, these are usually a few changes that another server committed, and one batch is
  /// enough.
  private func catchUp(_ lane: inout Lane) async throws {
    counters.withLock { $0.catchUps += 1 }
    try await retire(&lane)
    var sequence = Int64.min
    while !handover.isStopped {
      // This call must come before the read. A change that is committed during the read is then in
      // the result, in memory, or in both. `dispatch` skips the second copy.
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

  /// Dispatches changes, in transactions of bounded size.
  ///
  /// If the last transaction has no firings, its changes stay in `lane.retiring`. A transaction is
  /// written when there are ``Configuration/batchSize`` of them.
  private func dispatch(_ entries: [OutboxEntry], _ lane: inout Lane) async throws {
    let entries = entries.drop { $0.sequence <= lane.dispatchedThrough }
    guard let first = entries.first, let last = entries.last else { return }
    try await forward(entries, after: lane.retiring, from: lane.part)
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
          // While the store writes one transaction, the loop prepares the next one.
          try await writing.next()
          // The remaining changes are in the outbox.
          if handover.isStopped { return false }
          writing.addTask { try await self.complete(full) }
        }
        // Every part of a divided database dispatches each change, so only part 0 counts the
        // change.
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

  /// Whether notifications of a change contain the record's last values: only for deletions, and if
  /// the configuration says so for the container.
  private func carriesLastValues(_ entry: OutboxEntry) async throws -> Bool {
    guard entry.change.event == .recordDeleted else { return false }
    return configuration.deletionsCarryLastValues(
      try await store.databases.address(of: entry.database).container)
  }

  /// Writes a transaction that marks the changes of `lane.retiring` as dispatched, and empties that
  /// list.
  private func retire(_ lane: inout Lane) async throws {
    guard !lane.retiring.isEmpty else { return }
    let changes = lane.retiring
    lane.retiring = []
    try await complete(changes)
  }
}
