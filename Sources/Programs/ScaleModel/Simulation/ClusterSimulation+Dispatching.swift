extension ClusterSimulation {
  /// A change was committed. The server that saved it has the database's lease now, unless another has.
  mutating func noteChange(in database: Int, savedBy server: Int, takenAt taken: Double) {
    waitingChanges += 1
    var lane =
      lanes[database]
      ?? SimulatedLane(
        holder: server,
        hasIndex: random.unit() < warmShare || database < scenario.publicDatabases)
    // A lease that nobody used for long was given back; who comes next has it.
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
      lanes[database] = lane
      if isNew { events.add(.takeOver(database: database), at: max(now, takingOverAt)) }
      return
    }
    // Word that is there already stands for this change too.
    let leavesWakeUp = lane.holder != server && !lane.hasPendingWakeUp
    if leavesWakeUp { lane.hasPendingWakeUp = true }
    lanes[database] = lane
    if lane.holder == server {
      serve(database)
    } else if leavesWakeUp {
      events.add(.wake(database: database), at: now + costs.wakeUp)
    }
  }

  /// The holder of a database's lease hears of changes that others have saved.
  mutating func wake(_ database: Int) {
    lanes[database]?.hasPendingWakeUp = false
    work(
      .wordInPostgreSQL(database: database),
      seconds: costs.wordStatements * costs.databaseStatement,
      waking: costs.wordStatements * costs.databaseWaking,
      on: station(ofShard: database % scenario.shards))
  }

  mutating func hearWord(of database: Int) {
    guard let holder = lanes[database]?.holder else { return }
    work(
      .wordInServer(database: database), seconds: costs.wordStatements * costs.serverStatement,
      waking: costs.wordStatements * costs.serverWaking,
      on: station(ofServer: holder))
  }

  /// Dispatches what waits in a database, unless its holder is at it.
  mutating func serve(_ database: Int) {
    guard var lane = lanes[database], !lane.isBusy, !servers[lane.holder].isDead else { return }
    guard !lane.changes.isEmpty else { return }
    lane.isBusy = true
    let processor = station(ofServer: lane.holder)
    guard lane.hasIndex else {
      lanes[database] = lane
      let count = scenario.subscriptions(of: database, parts: parts)
      // PostgreSQL's part is a few statements; the rows go through the server.
      return work(
        .index(database: database, server: lane.holder),
        seconds: costs.indexStatements * (costs.serverStatement + costs.databaseStatement)
          + count * costs.indexedSubscription, on: processor)
    }
    lane.firings = 0
    let firings =
      database < scenario.publicDatabases ? scenario.publicFirings : scenario.privateFirings
    while lane.underWay.count < scenario.dispatchBatch, let change = lane.changes.removeFirst() {
      lane.underWay.append(change)
      lane.firings += random.rounded(firings)
    }
    let further = max(0, lane.firings - lane.underWay.count)
    let seconds =
      costs.change * Double(lane.underWay.count) + costs.furtherNotification * Double(further)
      + costs.dispatchReads * costs.serverStatement
    lanes[database] = lane
    work(
      .match(database: database, server: lane.holder), seconds: seconds,
      waking: costs.dispatchReads * costs.serverWaking, on: processor)
  }

  mutating func endIndexing(_ database: Int, on server: Int) {
    guard !servers[server].isDead, lanes[database]?.holder == server else { return }
    lanes[database]?.hasIndex = true
    lanes[database]?.isBusy = false
    serve(database)
  }

  mutating func endMatching(_ database: Int, on server: Int) {
    guard !servers[server].isDead, lanes[database]?.holder == server else { return }
    add(.completion(database: database), to: server, database: database)
  }

  /// What a batch fires is in the log.
  mutating func endDispatching(_ database: Int, on server: Int) {
    guard var lane = lanes[database], lane.holder == server else { return }
    waitingChanges -= lane.underWay.count
    for change in lane.underWay where isMeasuring {
      result.dispatched += 1
      result.dispatchDelay.record(now - change.taken)
    }
    let pushes = random.rounded(Double(lane.firings) * scenario.pushes)
    lane.underWay = []
    lane.isBusy = false
    lane.idleSince = now
    noteRecovery(of: database, &lane)
    lanes[database] = lane
    if pushes > 0 {
      work(
        .pushes(server: server, count: pushes), seconds: costs.push * Double(pushes),
        on: station(ofServer: server))
    }
    serve(database)
  }

  // MARK: Pushes

  /// Pushes leave when the connections to APNs have room for them.
  mutating func send(_ count: Int, from server: Int) {
    servers[server].waitingPushes += count
    sendWaiting(from: server)
  }

  private mutating func sendWaiting(from server: Int) {
    let room = scenario.openPushes - servers[server].openPushes
    let leaving = min(room, servers[server].waitingPushes)
    guard leaving > 0 else { return }
    servers[server].openPushes += leaving
    servers[server].waitingPushes -= leaving
    events.add(
      .pushesEnd(server: server, count: leaving), at: now + scenario.pushRoundTrip)
  }

  mutating func endPushes(of server: Int, _ count: Int) {
    servers[server].openPushes -= count
    if isMeasuring { result.pushed += count }
    sendWaiting(from: server)
  }
}
