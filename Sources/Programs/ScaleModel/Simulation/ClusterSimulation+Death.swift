extension ClusterSimulation {
  /// The last server dies: what it was at is lost, its locks end with its connections, and its leases when
  /// its row is over.
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
      // What PostgreSQL has been told to commit is committed, though nobody hears of it.
      guard ![.committing, .answering].contains(transactions[number].step) else { continue }
      transactions[number].isDead = true
      for job in transactions[number].jobs { repeatElsewhere(job) }
    }
    events.add(.locksEnd, at: now + death.lockSeconds)
    // It renewed its row some time ago, and others look for such rows now and then.
    let over = scenario.leaseSeconds - random.unit() * scenario.renewalSeconds
    let found = over + random.unit() * scenario.renewalSeconds
    takingOverAt = now + found
    for (database, lane) in lanes.sorted(by: { $0.key < $1.key })
    where lane.holder == dead && (lane.isBusy || !lane.changes.isEmpty) {
      lanes[database]?.isOrphan = true
      lanes[database]?.isBusy = false
      // What was under way is dispatched again from the outbox, in the same order.
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

  private mutating func repeatElsewhere(_ job: Job) {
    if case .save(let save) = job { repeatElsewhere(save) }
  }

  /// Sends a save again to a server that lives.
  mutating func repeatElsewhere(_ save: Int) {
    result.recovery?.repeatedSaves += 1
    let dead = saves[save].server
    let next = random.below(servers.count - 1)
    saves[save].server = next < dead ? next : next + 1
    receive(save)
  }

  mutating func endLocksOfTheDead() {
    for number in transactions.indices where transactions[number].isDead {
      unlock(number)
      transactions[number].jobs = []
    }
  }

  /// Another server takes a lease over, reads the index, and dispatches what waits in the outbox.
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

  /// Notes that a database which had lost its server is dispatched again, when it is.
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

  mutating func finishRecovery() {
    guard result.recovery != nil else { return }
    result.recovery?.isComplete = !lanes.values.contains { $0.isOrphan }
  }
}
