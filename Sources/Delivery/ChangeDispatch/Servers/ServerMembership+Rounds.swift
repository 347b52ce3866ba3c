import PushChannels
import StoreModel

/// The periodic work of cluster membership. A *round* sends the heartbeat, renews the registration,
/// scans for databases without a lease, and polls the store for changes of other servers, each at
/// its time.
extension ServerMembership {
  /// The times and positions of the next work.
  private struct Rounds {
    var renewal = ContinuousClock.now
    var scan = ContinuousClock.now
    /// The time of the next heartbeat.
    var sign = ContinuousClock.now
    /// The time at which the store was last polled.
    var poll = ContinuousClock.now
    /// Whether the notifications of all servers arrived at the last check.
    var receivesNotifications = false
    /// The position up to which the other servers' announcements were read.
    var position = AnnouncementPosition()
    /// The database after which the next scan begins; `.min` if the scan begins with the first
    /// database.
    var scannedThrough = DatabaseID(rawValue: .min)
    var balance = PartBalance()
    /// The time at which readers check their logs once, because this server may have missed
    /// announcements; `nil` afterwards.
    var firstLook: ContinuousClock.Instant?
  }

  /// Runs the periodic work until the membership is stopped. After a failure of the store, the
  /// method waits and tries again.
  func run() async {
    var rounds = Rounds()
    var retry = StoreBackoff()
    while !isStopped {
      do {
        try await goRound(&rounds)
        retry.succeed()
        job.succeed()
        state.withLock { $0.metrics.fault = nil }
        await pause(until: next(rounds))
      } catch {
        // The next round polls the store. It thereby reads the changes that notifications reported
        // before the failure.
        rounds.poll = .now - .seconds(configuration.calmPollInterval)
        state.withLock { $0.metrics.fault = "\(error)" }
        job.fail(error)
        let delay = min(retry.fail(), configuration.leaseTime / 8)
        report(
          WorkReport(
            "the cluster membership could not be updated in the store, trying again",
            ["retryAfter": .seconds(delay), "cause": .cause(error)]))
        await signal.wait(atMost: delay)
      }
    }
  }

  private func goRound(_ rounds: inout Rounds) async throws {
    let server = try await registered(&rounds)
    if ContinuousClock.now >= rounds.renewal {
      rounds.renewal = .now + .seconds(configuration.leaseTime / 3)
      guard try await renew(server) else { return }
    }
    if ContinuousClock.now >= rounds.sign {
      rounds.sign = .now + .seconds(configuration.signInterval)
      try await store.announceMembership(of: server)
    }
    try await lookForChanges(as: server, &rounds)
    if let firstLook = rounds.firstLook, ContinuousClock.now >= firstLook {
      rounds.firstLook = nil
      handlers?.onAnnounced(nil)
    }
    guard ContinuousClock.now >= rounds.scan else { return }
    // A random interval keeps the servers from scanning at the same moment.
    rounds.scan = .now + .seconds(configuration.scanInterval * Double.random(in: 0.8...1.2))
    try await endUnusedLeases(of: server)
    try await store.trimAnnouncements(of: server)
    if state.withLock({ $0.isDraining }) { return }
    try await shareParts(as: server, &rounds.balance)
    let isThrough = try await takeFreeDatabases(for: server, after: &rounds.scannedThrough)
    if !isThrough {
      rounds.scan = .now
      signal.signal()
    }
  }

  /// Returns the time of the next work if no notification comes.
  private func next(_ rounds: Rounds) -> ContinuousClock.Instant {
    let poll = rounds.poll + pollInterval(rounds)
    return [rounds.renewal, rounds.scan, rounds.sign, rounds.firstLook ?? poll]
      .reduce(poll) { min($0, $1) }
  }

  /// Returns the interval of polling: longer while notifications arrive.
  private func pollInterval(_ rounds: Rounds) -> Duration {
    .seconds(
      rounds.receivesNotifications ? configuration.calmPollInterval : configuration.pollInterval)
  }

  /// Waits for a notification or a time, but at least ``Configuration/wakeUpGap``, even if many
  /// notifications come.
  private func pause(until next: ContinuousClock.Instant) async {
    let earliest = ContinuousClock.now + .seconds(configuration.wakeUpGap)
    await signal.wait(atMost: max(0, (next - .now) / .seconds(1)))
    if ContinuousClock.now < earliest, !isStopped {
      // A cancellation ends the sleep. The loop then finds that the membership is stopped.
      try? await Task.sleep(until: earliest, clock: .continuous)
    }
  }

  /// Reads the changes and announcements of other servers, after a notification or at the time of
  /// polling.
  private func lookForChanges(as server: ServerID, _ rounds: inout Rounds) async throws {
    let receivesNotifications = receivesNotifications(as: server)
    // When `receivesNotifications` changes, earlier notifications may have been missed.
    let isDue =
      receivesNotifications != rounds.receivesNotifications
      || ContinuousClock.now >= rounds.poll + pollInterval(rounds)
    rounds.receivesNotifications = receivesNotifications
    if isDue { rounds.poll = .now }
    let pending = state.withLock { state in
      defer {
        state.pending.isWokenUp = false
        state.pending.announcements = false
        if receivesNotifications { state.pending.isInterrupted = false }
      }
      return (
        isWokenUp: state.pending.isWokenUp, announcements: state.pending.announcements,
        receivesNotificationsAgain: receivesNotifications && state.pending.isInterrupted
      )
    }
    if pending.receivesNotificationsAgain { handlers?.onAnnounced(nil) }
    if isDue || pending.isWokenUp {
      state.withLock { $0.metrics.looks += 1 }
      let awaited = try await store.wakeUps(of: server)
      if !awaited.parts.isEmpty { look(into: awaited.parts) }
      if !awaited.isWhole {
        state.withLock { $0.pending.isWokenUp = true }
        signal.signal()
      }
    }
    if isDue || pending.announcements, handlers?.isListening() == true {
      try await listen(as: server, from: &rounds.position)
    }
  }

  // MARK: Registration

  /// Returns the ID of this server. Registers the server if it is not registered: at the first
  /// call, and after its registration expired.
  private func registered(_ rounds: inout Rounds) async throws -> ServerID {
    if let server { return server }
    let server = try await store.registerServer(
      configuration.description(), for: configuration.leaseTime)
    let isStopped = state.withLock { state in
      state.server = server
      return state.isStopped
    }
    report(
      WorkReport(
        "registered among the servers of the store", ["server": .server(server)],
        isRoutine: true))
    rounds = Rounds()
    // With a random start, servers that start together scan in different orders.
    rounds.scannedThrough = DatabaseID(rawValue: Int64.random(in: 0...64))
    // A server that knows no other server announces nothing. It learns of this server at its next
    // renewal.
    rounds.firstLook = .now + .seconds(configuration.leaseTime)
    if isStopped { try await store.unregisterServer(server) }
    return server
  }

  /// Renews the registration. Reports servers that are new, and calls the handlers if a server is
  /// gone.
  ///
  /// - Returns: `true` if this server is still registered. If not, all its leases are lost.
  private func renew(_ server: ServerID) async throws -> Bool {
    guard let renewal = try await store.renewServer(server, for: configuration.leaseTime) else {
      let lost = state.withLock { state in
        let lost = state.held.endAll()
        if state.server == server { state.server = nil }
        state.metrics.leasesLost += lost
        state.metrics.lapses += 1
        return lost
      }
      report(
        WorkReport(
          "the other servers removed this server because it had sent no heartbeat; it registers "
            + "again",
          ["server": .server(server), "leases": .count(lost)]))
      signal.signal()
      return false
    }
    let others = Set(renewal.others.map(\.id))
    let known = state.withLock { state in
      defer { state.others = others }
      state.metrics.expiredServersRemoved += renewal.gone.count
      return state.others
    }
    for gone in renewal.gone {
      report(
        WorkReport(
          "the registration of another server expired and was removed", ["server": .server(gone)]))
    }
    for new in renewal.others where !known.contains(new.id) {
      report(
        WorkReport(
          "another server has the store open",
          ["server": .server(new.id), "description": .text(new.description)], isRoutine: true))
    }
    if !known.isSubset(of: others) || !renewal.gone.isEmpty {
      handlers?.onServersGone()
      // The announcements of a server that is gone may be lost.
      handlers?.onAnnounced(nil)
    }
    return true
  }

  // MARK: Leases

  /// Leases databases that no server has leased, at most ``Configuration/batchSize``.
  ///
  /// - Parameter start: The database after which the scan begins. The call sets it for the next
  ///   scan.
  /// - Returns: `true` if the scan covered all databases. `false` if the next scan should follow at
  ///   once.
  private func takeFreeDatabases(
    for server: ServerID, after start: inout DatabaseID
  ) async throws -> Bool {
    let free = try await store.freeDatabases(after: start, limit: configuration.batchSize)
    for database in free { try await take(database, for: server) }
    let isBeginning = start.rawValue < 0
    guard let last = free.last, free.count == configuration.batchSize else {
      // The next scan begins with the first database. If this scan began there, it has covered all
      // databases.
      start = DatabaseID(rawValue: .min)
      return isBeginning
    }
    start = last.part.database
    return false
  }

  /// Leases a database or a part, and makes its lane read the outbox. Does nothing if another
  /// server was faster.
  private func take(_ free: FreePart, for server: ServerID) async throws {
    guard try await store.lease(free, to: server) else { return }
    let now = ContinuousClock.now
    state.withLock { state in
      state.held.use(free.part, at: now)
      state.metrics.leasesTaken += 1
    }
    look(into: [free.part])
  }

  /// Reads the leases of all parts of divided databases. Leases and releases parts as
  /// ``PartBalance`` plans.
  private func shareParts(as server: ServerID, _ balance: inout PartBalance) async throws {
    let leases = try await store.dividedDatabases()
    let own = Set(leases.filter { $0.holder == server }.map(\.part))
    let (held, others) = state.withLock { ($0.held.parts, $0.others) }
    // This server may have lost the lease of a part for two reasons. The database was divided anew,
    // or another server has the part.
    for part in held where !own.contains(part) { leave(part) }
    for database in Set(leases.map(\.part.database)) { leave(.whole(database)) }
    let new = own.subtracting(held)
    if !new.isEmpty {
      let now = ContinuousClock.now
      state.withLock { state in for part in new { state.held.use(part, at: now) } }
      look(into: Array(new))
    }
    let plan = balance.plan(leases, for: server, among: others)
    for free in plan.taken { try await take(free, for: server) }
    for part in plan.released {
      try await store.release(part, by: server)
      leave(part)
      state.withLock { $0.metrics.partsReleased += 1 }
    }
  }

  /// Removes the lease of a database or part that this server no longer dispatches, and frees its
  /// matching index.
  private func leave(_ part: DatabasePart) {
    state.withLock { $0.held.end(part) }
    forget(part)
  }

  /// Ends the leases of databases without work for ``Configuration/idleTime``.
  private func endUnusedLeases(of server: ServerID) async throws {
    let now = ContinuousClock.now
    let unused = state.withLock { state in
      state.held.removeUnused(
        since: now - .seconds(configuration.idleTime), at: now, limit: configuration.batchSize,
        isInUse: { isOpen($0) })
    }
    for database in unused {
      // The store keeps the lease if changes of the database wait in the outbox. The lane then
      // reads the outbox.
      if try await store.endLease(of: database, by: server) { continue }
      state.withLock { $0.held.use(.whole(database), at: now) }
      look(into: [.whole(database)])
    }
  }

  // MARK: Announcements

  /// Reads the announcements since the last call, and notifies the readers of the announced users.
  /// The first call notifies all readers.
  private func listen(as server: ServerID, from position: inout AnnouncementPosition) async throws {
    // A reader reads its log when it begins to wait, so it misses no announcement from before.
    let isFirst = position == AnnouncementPosition()
    position.pass(
      state.withLock { state in
        defer { state.pending.names = [] }
        return state.pending.names
      })
    let (announcements, next) = try await store.announcements(after: position, for: server)
    position = next
    guard !isFirst else {
      handlers?.onAnnounced(nil)
      return
    }
    for announcement in announcements { handlers?.onAnnounced(announcement.subscribers) }
  }

  /// Runs the announcing task until the membership is stopped. One announcement contains all users
  /// with new notifications since the announcement before.
  func announce() async {
    while !isStopped {
      await announcing.wait()
      let (server, subscribers) = state.withLock { state in
        defer { state.announced = [] }
        return (state.server, state.announced)
      }
      guard let server, subscribers.map({ !$0.isEmpty }) ?? true else { continue }
      do {
        try await store.announce(Announcement(subscribers: subscribers), from: server)
        // A cancellation ends the sleep. The loop then finds that the membership is stopped.
        try? await Task.sleep(for: .seconds(configuration.wakeUpGap))
      } catch {
        // The next announcement contains these users again.
        state.withLock { state in
          if let known = state.announced {
            state.announced = subscribers.map { known.union($0) }
          }
        }
        if isStopped { return }
        // A cancellation ends the sleep. The loop then finds that the membership is stopped.
        try? await Task.sleep(for: .seconds(configuration.pollInterval))
        announcing.signal()
      }
    }
  }
}

extension WorkReport.Value {
  fileprivate static func server(_ server: ServerID) -> Self { .count(Int(server.rawValue)) }
}
