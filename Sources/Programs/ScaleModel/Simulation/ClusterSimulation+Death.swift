extension ClusterSimulation {
  /// Ends the last server, unless it is the only one. The work in that server's memory is lost.
  /// PostgreSQL keeps the locks of the server for a moment. The server's leases stay until its
  /// membership row in the store has expired and another server finds that.
  mutating func die() {
    guard servers.count > 1 else { return }
    let dead = servers.count - 1
    servers[dead].isDead = true
    result.recovery = ScaleResult.Recovery()
    for queue in servers[dead].queues.indices {
      while let job = servers[dead].queues[queue].removeFirst() { repeatElsewhere(job) }
    }
    for (_, jobs) in servers[dead].blocked.sorted(by: { $0.key < $1.key }) {
      for job in jobs { repeatElsewhere(job) }
    }
    // PostgreSQL completes what it received with the commit, although no server reads the answer.
    for number in transactions.indices
    where transactions[number].server == dead && !transactions[number].jobs.isEmpty
      && transactions[number].step.rawValue <= SimulatedTransaction.Step.deciding.rawValue
    {
      transactions[number].isDead = true
      forget(number)
    }
    events.add(.locksEnd, at: now + scenario.deadLockSeconds)
    // The row was renewed at a random time before the death, and the next scan for expired rows is
    // at a random time after the expiry.
    let over = scenario.leaseSeconds - random.unit() * scenario.renewalSeconds
    takingOverAt = now + over + random.unit() * scenario.renewalSeconds
    for (database, lane) in lanes.sorted(by: { $0.key < $1.key })
    where lane.holder == dead && (lane.isBusy || !lane.changes.isEmpty) {
      // The new holder dispatches the interrupted changes again from the outbox, in the same order.
      var changes = FirstInFirstOut<SimulatedLane.Change>()
      for change in lane.underWay { changes.append(change) }
      while let change = lane.changes.removeFirst() { changes.append(change) }
      lane.isOrphan = true
      lane.isBusy = false
      lane.changes = changes
      lane.underWay = []
      orphanedChanges += changes.count
      events.add(.takeOver(database: database), at: takingOverAt)
    }
    result.recovery?.deepest = orphanedChanges
  }

  mutating func forget(_ number: Int) {
    for job in transactions[number].jobs { repeatElsewhere(job) }
    transactions[number].jobs = []
  }

  /// Sends the save of a job again. The changes of a batch are still in the outbox.
  private mutating func repeatElsewhere(_ job: Job) {
    if let save = job.save { repeatElsewhere(save) }
  }

  mutating func repeatElsewhere(_ save: Int) {
    result.recovery?.repeatedSaves += 1
    saves[save].server = anotherServer(than: saves[save].server)
    receive(save)
  }

  /// Releases the locks of the dead server's open transactions, which PostgreSQL has now rolled
  /// back.
  mutating func endLocksOfTheDead() {
    for number in transactions.indices where transactions[number].isDead { unlock(number) }
  }

  /// Moves the lease of a database from the dead server to a random other one. The new holder then
  /// reads the index, and dispatches the changes from the outbox.
  mutating func takeOver(_ database: Int) {
    guard let lane = lanes[database], servers[lane.holder].isDead else { return }
    lane.holder = anotherServer(than: lane.holder)
    lane.hasIndex = false
    lane.isBehind = true
    lane.orphanedUntil = now
    orphanedChanges -= lane.changes.count
    result.recovery?.databases += 1
    noteRecovery(of: database)
    serve(database)
  }

  /// Records the recovery time of a database if all changes from before the takeover of its lease
  /// are dispatched. Does nothing for a database without a dead holder.
  mutating func noteRecovery(of database: Int) {
    guard let lane = lanes[database], lane.isOrphan, !servers[lane.holder].isDead,
      let death = scenario.death,
      lane.changes.first.map({ $0.committed > lane.orphanedUntil }) ?? true
    else { return }
    lane.isOrphan = false
    let time: WritableKeyPath<ScaleResult.Recovery, Double> =
      database < scenario.publicDatabases ? \.publicSeconds : \.privateSeconds
    if let before = result.recovery?[keyPath: time] {
      result.recovery?[keyPath: time] = max(before, now - death)
    }
  }
}
