extension ClusterSimulation {
  /// Ends the last server, unless it is the only one. The work in that server's memory is lost.
  /// PostgreSQL keeps the locks of the server for ``ScaleScenario/Death/lockSeconds``. The server's
  /// leases stay until its membership row in the store has expired and another server finds that.
  mutating func die() {
    guard let death = scenario.death, servers.count > 1 else { return }
    let dead = servers.count - 1
    servers[dead].isDead = true
    result.recovery = ScaleResult.Recovery()
    for shard in servers[dead].queues.indices {
      for job in servers[dead].queues[shard].removeAll() { repeatElsewhere(job) }
    }
    servers[dead].waiting = 0
    for number in transactions.indices
    where transactions[number].server == dead && !transactions[number].jobs.isEmpty {
      // PostgreSQL completes a commit that it received, although no server reads the answer.
      guard ![.committing, .answering].contains(transactions[number].step) else { continue }
      transactions[number].isDead = true
      for job in transactions[number].jobs { repeatElsewhere(job) }
    }
    events.add(.locksEnd, at: now + death.lockSeconds)
    // The row was renewed at a random time before the death, and the next scan for expired rows is
    // at a random time after the expiry. Each time is at most `renewalSeconds` long.
    let over = scenario.leaseSeconds - random.unit() * scenario.renewalSeconds
    let found = over + random.unit() * scenario.renewalSeconds
    takingOverAt = now + found
    for (database, lane) in lanes.sorted(by: { $0.key < $1.key })
    where lane.holder == dead && (lane.isBusy || !lane.changes.isEmpty) {
      lanes[database]?.isOrphan = true
      lanes[database]?.isBusy = false
      // The new holder dispatches the interrupted changes again from the outbox, in the same order.
      var changes = FirstInFirstOut<SimulatedLane.Change>()
      for change in lane.underWay { changes.append(change) }
      var rest = lane.changes
      while let change = rest.removeFirst() { changes.append(change) }
      lanes[database]?.changes = changes
      lanes[database]?.underWay = []
      orphanedChanges += changes.count
      events.add(.takeOver(database: database), at: takingOverAt)
    }
    result.recovery?.deepest = orphanedChanges
  }

  /// Sends the save of a job again. A job that completes a batch is ignored, because the changes of
  /// the batch stay in the outbox.
  private mutating func repeatElsewhere(_ job: Job) {
    if case .save(let save) = job { repeatElsewhere(save) }
  }

  /// Sends a save again to another server, chosen at random.
  mutating func repeatElsewhere(_ save: Int) {
    result.recovery?.repeatedSaves += 1
    let dead = saves[save].server
    let next = random.below(servers.count - 1)
    saves[save].server = next < dead ? next : next + 1
    receive(save)
  }

  /// Releases the locks of the dead server's open transactions, which PostgreSQL has now rolled
  /// back.
  mutating func endLocksOfTheDead() {
    for number in transactions.indices where transactions[number].isDead {
      unlock(number)
      transactions[number].jobs = []
    }
  }

  /// Moves the lease of a database from the dead server to a random other one. The new holder then
  /// reads the index and dispatches the changes from the outbox.
  mutating func takeOver(_ database: Int) {
    guard var lane = lanes[database], servers[lane.holder].isDead else { return }
    lane.holder = random.below(servers.count - 1)
    lane.hasIndex = false
    lane.orphanedUntil = now
    orphanedChanges -= lane.changes.count
    result.recovery?.databases += 1
    noteRecovery(of: database, &lane)
    lanes[database] = lane
    serve(database)
  }

  /// Records the recovery time of a database if all changes from before the takeover of its lease
  /// are dispatched. Does nothing for a database without a dead holder.
  mutating func noteRecovery(of database: Int, _ lane: inout SimulatedLane) {
    guard lane.isOrphan, !servers[lane.holder].isDead, let death = scenario.death else { return }
    guard lane.changes.first.map({ $0.committed > lane.orphanedUntil }) ?? true else { return }
    lane.isOrphan = false
    let seconds = now - death.second
    var recovery = result.recovery ?? ScaleResult.Recovery()
    if database < scenario.publicDatabases {
      recovery.publicSeconds = max(recovery.publicSeconds, seconds)
    } else {
      recovery.privateSeconds = max(recovery.privateSeconds, seconds)
    }
    result.recovery = recovery
  }

  /// Sets ``ScaleResult/Recovery/isComplete`` at the end of the simulation.
  mutating func finishRecovery() {
    guard result.recovery != nil else { return }
    result.recovery?.isComplete = !lanes.values.contains { $0.isOrphan }
  }
}
