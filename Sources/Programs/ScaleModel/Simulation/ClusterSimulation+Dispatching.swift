extension ClusterSimulation {
  /// Adds a committed change to its database's lane. If no server has the lease of the database,
  /// the server that saved the change gets it. If another server has the lease, that server gets a
  /// wake-up. If the holder is dead, the change waits for the takeover of the lease.
  mutating func noteChange(in database: Int, savedBy server: Int, takenAt taken: Double) {
    waitingChanges += 1
    let lane = lanes[database] ?? SimulatedLane(holder: server)
    lanes[database] = lane
    // The holder of a private database returned the lease when it had no changes for a while.
    if !lane.isBusy, lane.changes.isEmpty, !lane.isOrphan,
      now - lane.idleSince > scenario.idleSeconds, database >= scenario.publicDatabases
    {
      lane.holder = server
    }
    lane.changes.append(SimulatedLane.Change(taken: taken, committed: now))
    defer {
      if let recovery = result.recovery {
        result.recovery?.deepest = max(recovery.deepest, orphanedChanges)
      }
    }
    if servers[lane.holder].isDead {
      orphanedChanges += 1
      let isNew = !lane.isOrphan
      lane.isOrphan = true
      if isNew { events.add(.takeOver(database: database), at: max(now, takingOverAt)) }
      return
    }
    if lane.holder == server { return serve(database) }
    lane.isBehind = true
    // A wake-up that is still pending covers this change too.
    if !lane.hasPendingWakeUp {
      lane.hasPendingWakeUp = true
      events.add(.wake(database: database), at: now + costs.wakeUp)
    }
  }

  /// Begins to dispatch a database's changes. Does nothing if the holder is busy or dead, or if no
  /// changes wait. The holder first reads the index and the outbox if it lacks them.
  mutating func serve(_ database: Int) {
    guard let lane = lanes[database], !lane.isBusy, !lane.changes.isEmpty,
      !servers[lane.holder].isDead
    else { return }
    lane.isBusy = true
    if !lane.hasIndex {
      // The server's processors get all the work, because PostgreSQL's part is a few statements.
      work(
        .index(database: database, server: lane.holder),
        seconds: subscriptions(of: database) * costs.indexedSubscription,
        on: station(ofServer: lane.holder))
    } else if lane.isBehind {
      lane.isBehind = false
      work(
        .outbox(database: database, server: lane.holder), seconds: costs.catchUp.database,
        on: station(ofShard: shard(of: database)))
    } else {
      match(database, on: lane.holder)
    }
  }

  /// Subscriptions of a database; for a private one, the average.
  private func subscriptions(of database: Int) -> Double {
    let all = Double(scenario.subscriptions)
    return database < scenario.publicDatabases
      ? all * scenario.publicSubscriptionShare * parts[database]
      : all * (1 - scenario.publicSubscriptionShare) / Double(scenario.users)
  }

  mutating func endIndexing(_ database: Int, on server: Int) {
    guard let lane = lanes[database], lane.holder == server, !servers[server].isDead else { return }
    lane.hasIndex = true
    lane.isBusy = false
    serve(database)
  }

  mutating func match(_ database: Int, on server: Int) {
    guard let lane = lanes[database], lane.holder == server, !servers[server].isDead else { return }
    lane.firings = 0
    while lane.underWay.count < scenario.dispatchBatch, lane.firings < scenario.firingsOfBatch,
      let change = lane.changes.removeFirst()
    {
      lane.underWay.append(change)
      lane.firings += random.rounded(scenario.firings(of: database))
    }
    work(
      .match(database: database, server: server),
      seconds: costs.preparedShare * costs.change.server * Double(lane.underWay.count),
      on: station(ofServer: server))
  }

  /// Queues the batch's notifications for a writer of the server when matching has ended.
  mutating func endMatching(_ database: Int, on server: Int) {
    guard let lane = lanes[database], lane.holder == server, !servers[server].isDead else { return }
    add(Job(database: database, kind: lane.firings <= 32 ? 0 : 1), to: server)
  }

  /// Ends a batch after the commit of its notifications. Starts its deliveries, and the next batch.
  mutating func endDispatching(_ database: Int, on server: Int) {
    guard let lane = lanes[database], lane.holder == server else { return }
    waitingChanges -= lane.underWay.count
    for change in lane.underWay where isMeasuring {
      result.dispatched += 1
      result.dispatchDelay.record(now - change.taken)
    }
    lane.underWay = []
    lane.isBusy = false
    lane.idleSince = now
    noteRecovery(of: database)
    let deliveries = Double(lane.firings) * scenario.pushes * costs.delivery
    work(.deliveries, seconds: deliveries.server, on: station(ofServer: server))
    work(.deliveries, seconds: deliveries.database, on: station(ofShard: shard(of: database)))
    serve(database)
  }
}
