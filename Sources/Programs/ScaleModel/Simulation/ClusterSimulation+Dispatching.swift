extension ClusterSimulation {
  /// Adds a committed change to its database's lane. If no server has the lease of the database,
  /// the server that saved the change gets the lease. If another server has the lease, that server
  /// receives a wake-up after ``ScaleCosts/wakeUp`` seconds. If the holder is dead, the change
  /// waits for the takeover of the lease.
  ///
  /// - Parameters:
  ///   - database: The number of the database.
  ///   - server: The server that saved the change.
  ///   - taken: The time when the save began to wait for a writer.
  mutating func noteChange(in database: Int, savedBy server: Int, takenAt taken: Double) {
    waitingChanges += 1
    var lane =
      lanes[database]
      ?? SimulatedLane(
        holder: server,
        hasIndex: random.unit() < warmShare || database < scenario.publicDatabases)
    // The holder of a private database returned the lease when it had no changes for `idleSeconds`.
    // The next server with a save gets the lease.
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
    // A wake-up that is still pending covers this change too.
    let leavesWakeUp = lane.holder != server && !lane.hasPendingWakeUp
    if leavesWakeUp { lane.hasPendingWakeUp = true }
    lanes[database] = lane
    if lane.holder == server {
      serve(database)
    } else if leavesWakeUp {
      events.add(.wake(database: database), at: now + costs.wakeUp)
    }
  }

  /// Delivers a wake-up to the holder of a database's lease, for changes that other servers saved.
  /// PostgreSQL's part of the work comes first.
  mutating func wake(_ database: Int) {
    lanes[database]?.hasPendingWakeUp = false
    work(
      .notificationInPostgreSQL(database: database),
      seconds: costs.notificationStatements * costs.databaseStatement,
      waking: costs.notificationStatements * costs.databaseWaking,
      on: station(ofShard: database % scenario.shards))
  }

  /// Adds the holder's part of the work for a wake-up, after PostgreSQL's part.
  mutating func receiveNotification(of database: Int) {
    guard let holder = lanes[database]?.holder else { return }
    work(
      .notificationInServer(database: database),
      seconds: costs.notificationStatements * costs.serverStatement,
      waking: costs.notificationStatements * costs.serverWaking,
      on: station(ofServer: holder))
  }

  /// Starts the next batch of a database. Does nothing if the holder is busy or dead, or if no
  /// changes wait. If the index of the database is not in the holder's memory, the holder reads the
  /// index first.
  mutating func serve(_ database: Int) {
    guard var lane = lanes[database], !lane.isBusy, !servers[lane.holder].isDead else { return }
    guard !lane.changes.isEmpty else { return }
    lane.isBusy = true
    let processor = station(ofServer: lane.holder)
    guard lane.hasIndex else {
      lanes[database] = lane
      let count = scenario.subscriptions(of: database, parts: parts)
      // The server's processors get all the work, because PostgreSQL's part is only a few
      // statements.
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

  /// Starts the first batch when the holder has read the index.
  mutating func endIndexing(_ database: Int, on server: Int) {
    guard !servers[server].isDead, lanes[database]?.holder == server else { return }
    lanes[database]?.hasIndex = true
    lanes[database]?.isBusy = false
    serve(database)
  }

  /// Queues the batch's notifications for a writer of the server when matching has ended.
  mutating func endMatching(_ database: Int, on server: Int) {
    guard !servers[server].isDead, lanes[database]?.holder == server else { return }
    add(.completion(database: database), to: server, database: database)
  }

  /// Ends a batch after the commit of its notifications. Starts the pushes of the batch, and the
  /// next batch.
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

  /// Queues pushes. A push is open from its sending to the answer of APNs. The server sends the
  /// queued pushes as soon as it may have more of them open.
  mutating func send(_ count: Int, from server: Int) {
    servers[server].waitingPushes += count
    sendWaiting(from: server)
  }

  /// Sends as many queued pushes as ``ScaleScenario/openPushes`` permits. APNs answers them after
  /// ``ScaleScenario/pushRoundTrip``.
  private mutating func sendWaiting(from server: Int) {
    let room = scenario.openPushes - servers[server].openPushes
    let leaving = min(room, servers[server].waitingPushes)
    guard leaving > 0 else { return }
    servers[server].openPushes += leaving
    servers[server].waitingPushes -= leaving
    events.add(
      .pushesEnd(server: server, count: leaving), at: now + scenario.pushRoundTrip)
  }

  /// Ends pushes that APNs has answered, and sends queued ones.
  mutating func endPushes(of server: Int, _ count: Int) {
    servers[server].openPushes -= count
    if isMeasuring { result.pushed += count }
    sendWaiting(from: server)
  }
}
