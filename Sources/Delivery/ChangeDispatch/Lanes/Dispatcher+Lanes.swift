import CloudKitModel
import Matching
import PushChannels
import Storage
import StoreModel

/// The data that the dispatcher keeps between two batches of one lane. A lane is the dispatch of
/// one database, or of one part of a divided database: some of its subscribers.
private struct Lane {
  let part: DatabasePart
  /// The matched changes without firings (matching subscriptions) whose dispatch is not stored yet.
  /// The next transaction of the lane stores their dispatch.
  var retiring: [MatchedChange] = []
  /// The sequence number of the last dispatched change. The lane can get a change twice: from the
  /// outbox, and then from memory. `dispatch` skips the second copy.
  var dispatchedThrough = Int64.min
  /// The subscribers whose firings are deferred. The first of them is the next whose firings are
  /// logged.
  var deferred: [String] = []
  /// The deferred firings that are being logged; `nil` if none are.
  var deferredFirings: DeferredFirings?
  /// The time from which the next deferred firings are logged, even if other changes wait.
  var deferralDue = ContinuousClock.now
  var scratch = MatchScratch()
  var group = MatchGroup()
}

extension Dispatcher {
  /// Does a lane's work until no work is left, other lanes wait, another server has the lease, or
  /// the dispatcher stops. ``LaneSchedule/Work`` describes the kinds of work.
  ///
  /// After a failure of the store, the lane waits, and then reads its changes from the outbox.
  func serve(_ part: DatabasePart) async {
    var lane = Lane(part: part)
    defer { setDeferred([], &lane) }
    var retry = StoreBackoff()
    while true {
      let patience =
        !lane.deferred.isEmpty ? 0 : lane.retiring.isEmpty ? nil : configuration.retirementDelay
      let work = await handover.work(
        of: part, atMost: configuration.batchSize, within: patience)
      do {
        switch work {
        case .dispatch(let entries):
          try await dispatch(entries, &lane)
          if ContinuousClock.now >= lane.deferralDue { try await continueDeferral(&lane) }
        case .catchUp: try await catchUp(&lane)
        case .idle:
          if lane.deferred.isEmpty { try await retire(&lane) }
          try await continueDeferral(&lane)
        case .yield: return try await yield(&lane)
        case .done: return
        case .stop: return try await retire(&lane)
        }
        succeed(&retry)
      } catch {
        if case .stop = work { return report(.changesWait(in: part.database, error)) }
        setDeferred([], &lane)
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
        if ContinuousClock.now >= lane.deferralDue { try await continueDeferral(&lane) }
        sequence = last.sequence
      } else if sequence == .min {
        // Otherwise the transactions of the changes find out who is deferred.
        try await readDeferred(&lane)
      }
      guard
        entries.count == configuration.batchSize
          || entries.reduce(0, { $0 + $1.byteCount }) >= OutboxEntry.bytesAtOnce
      else { return }
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
    // The versions of a database's changes never fall.
    var current = try await indexes.take(for: lane.part, through: last.subscriptionVersion)
    defer { indexes.put(current, for: lane.part) }
    current.learn(from: first.change, using: &lane.scratch)
    var pending = PendingTransaction(
      lane.retiring, limit: configuration.firingLimit, byteLimit: configuration.byteLimit,
      matchedVersion: current.position.version)
    lane.retiring = []
    var batch = BatchFirings(
      entries, in: current.index, deferring: lane.deferred,
      limit: configuration.firingsOfSubscriber, costLimit: configuration.costOfSubscriber)
    // The subscribers whose firings are deferred after this batch.
    var deferred = lane.deferred
    let before = (lane.group.candidateCount, lane.group.matchedCount)
    defer {
      counters.withLock {
        $0.candidates += lane.group.candidateCount - before.0
        $0.firedCandidates += lane.group.matchedCount - before.1
      }
    }
    let isThrough = try await withThrowingTaskGroup(of: [String].self) { writing in
      for var entry in entries {
        var (firings, deferring) = batch.removeFirst(using: &lane.group)
        entry.deferring = deferring
        deferred += deferring
        let carriesLastValues =
          firings.isEmpty ? false : try await carriesLastValues(entry)
        while let full = pending.add(
          &firings, of: &entry, carriesLastValues: carriesLastValues, prepare: store.outbox.prepare)
        {
          // While the store writes one transaction, the loop prepares the next one.
          deferred += try await writing.next() ?? []
          // The remaining changes are in the outbox.
          if handover.isStopped { return false }
          writing.addTask { try await self.complete(full) }
        }
        // Every part of a divided database dispatches each change, so only part 0 counts the
        // change.
        if lane.part.number == 0 { counters.withLock { $0.dispatchedChanges += 1 } }
      }
      deferred += try await writing.next() ?? []
      return true
    }
    guard isThrough else { return }
    lane.dispatchedThrough = last.sequence
    if pending.firingCount > 0 {
      deferred += try await complete(pending.changes)
    } else {
      lane.retiring = pending.changes
      if lane.retiring.count >= configuration.batchSize { try await retire(&lane) }
    }
    var known = Set(lane.deferred)
    setDeferred(lane.deferred + deferred.filter { known.insert($0).inserted }, &lane)
  }

  /// Whether notifications of a change contain the record's last values: only for deletions, and if
  /// the configuration says so for the container.
  private func carriesLastValues(_ entry: OutboxEntry) async throws -> Bool {
    guard entry.change.event == .recordDeleted else { return false }
    return configuration.deletionsCarryLastValues(
      try await store.databases.address(of: entry.database).container)
  }

  /// Writes one transaction with deferred firings of one subscriber. Subscribers take turns, after
  /// each group of changes that is matched for them. The method does nothing if nobody is deferred.
  ///
  /// The transaction also stores the dispatch of the changes that the lane keeps back. A subscriber
  /// whose firings are all logged is deferred no more, and these changes were matched without this
  /// subscriber.
  ///
  /// While other changes wait, deferred firings get a quarter of the lane's time. Their transactions
  /// have a quarter of the usual size, because saves wait for the transaction in progress.
  private func continueDeferral(_ lane: inout Lane) async throws {
    guard let subscriber = lane.deferred.first, !handover.isStopped else { return }
    let began = ContinuousClock.now
    defer {
      let now = ContinuousClock.now
      lane.deferralDue = now + (now - began) * 3
    }
    var firings: DeferredFirings
    if let begun = lane.deferredFirings {
      firings = begun
    } else {
      let work = try await store.outbox.deferredWork(
        of: subscriber, in: lane.part, limit: configuration.deferredBatchSize,
        ofAtMost: configuration.deferredChanges)
      guard let work else {
        // The store may not know yet that the subscriber is deferred.
        try await retire(&lane)
        return try await readDeferred(&lane)
      }
      counters.withLock { $0.givenUpChanges += work.givenUp }
      firings = DeferredFirings(work)
    }
    lane.deferredFirings = nil
    guard firings.match(using: &lane.group) else {
      lane.deferredFirings = firings
      return
    }
    let container = try await store.databases.address(of: lane.part.database).container
    let retiring = lane.retiring
    lane.retiring = []
    let changes = firings.fill(
      PendingTransaction(
        retiring, limit: configuration.firingLimit / 4, byteLimit: configuration.byteLimit / 4),
      carriesLastValues: configuration.deletionsCarryLastValues(container),
      prepare: store.outbox.prepare)
    let left = Set(try await complete(changes))
    var deferred = lane.deferred.filter { left.contains($0) }
    if firings.isEmpty {
      if deferred.first == subscriber { deferred.append(deferred.removeFirst()) }
    } else {
      lane.deferredFirings = firings
    }
    setDeferred(deferred, &lane)
  }

  /// Reads who is deferred, after another server or an earlier task of this one may have served the
  /// lane. Whose firings are being logged stays first, so that these are not matched again for each
  /// commit of another server.
  private func readDeferred(_ lane: inout Lane) async throws {
    let stored = try await store.outbox.deferredSubscribers(in: lane.part)
    if let first = lane.deferred.first, lane.deferredFirings != nil, stored.contains(first) {
      return setDeferred([first] + stored.filter { $0 != first }, &lane)
    }
    lane.deferredFirings = nil
    setDeferred(stored, &lane)
  }

  private func setDeferred(_ subscribers: [String], _ lane: inout Lane) {
    let change = subscribers.count - lane.deferred.count
    lane.deferred = subscribers
    if change != 0 { counters.withLock { $0.deferredSubscribers += change } }
  }

  /// Stores the dispatch of the changes that the lane keeps back, and stops serving the lane for now.
  private func yield(_ lane: inout Lane) async throws {
    try await retire(&lane)
    // The next task that serves the lane finds the deferred subscribers in the store.
    if !lane.deferred.isEmpty { handover.fallBehind(lane.part) }
    handover.yield(lane.part)
  }

  /// Writes a transaction that marks the changes of `lane.retiring` as dispatched, and empties that
  /// list.
  private func retire(_ lane: inout Lane) async throws {
    guard !lane.retiring.isEmpty else { return }
    let changes = lane.retiring
    lane.retiring = []
    let deferred = try await complete(changes)
    let known = Set(lane.deferred)
    setDeferred(lane.deferred + deferred.filter { !known.contains($0) }, &lane)
  }
}
