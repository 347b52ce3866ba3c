extension ClusterSimulation {
  mutating func begin(_ transaction: SimulatedTransaction) {
    let number = freeTransactions.popLast() ?? transactions.count
    if number == transactions.count {
      transactions.append(transaction)
    } else {
      transactions[number] = transaction
    }
    send(number, as: .beginning)
  }

  func work(of jobs: [Job]) -> Cost {
    var (saved, changes, firings) = (0.0, 0.0, 0.0)
    for job in jobs {
      if job.save != nil {
        saved += 1
      } else {
        changes += Double(lanes[job.database]?.underWay.count ?? 0)
        firings += Double(lanes[job.database]?.firings ?? 0)
      }
    }
    return costs.work(
      saves: saved, changes: changes, firings: firings, pushes: firings * scenario.pushes)
  }

  /// Sends a message between server and PostgreSQL, which takes half a round trip.
  private mutating func send(_ number: Int, as step: SimulatedTransaction.Step) {
    transactions[number].step = step
    events.add(.transaction(number), at: now + costs.roundTrip / 2)
  }

  private mutating func workInDatabase(
    _ number: Int, as step: SimulatedTransaction.Step, share: Double
  ) {
    transactions[number].step = step
    work(
      .transaction(number), seconds: share * transactions[number].work.database,
      on: station(ofShard: shard(of: transactions[number].databases[0])))
  }

  /// Moves a transaction to its next step, after a message has arrived or a piece of work is done.
  /// Ignores a transaction that ended with the death of its server.
  mutating func goOn(_ number: Int) {
    guard !transactions[number].isDead else { return }
    switch transactions[number].step {
    case .beginning:
      if transactions[number].locksFirst { lock(number) } else { read(number) }
    case .reading: send(number, as: .returning)
    case .returning:
      transactions[number].step = .deciding
      work(
        .transaction(number), seconds: transactions[number].work.server,
        on: station(ofServer: transactions[number].server))
    case .deciding: send(number, as: .locking)
    case .locking: lock(number)
    case .writing:
      transactions[number].step = .flushing
      let shard = shard(of: transactions[number].databases[0])
      shards[shard].waiting.append(number)
      if shards[shard].flushing.isEmpty { beginFlush(of: shard) }
    case .flushing: break
    case .answering: end(number)
    }
  }

  private mutating func read(_ number: Int) {
    transactions[number].numbers = currentNumbers(number)
    workInDatabase(number, as: .reading, share: costs.readShare)
  }

  private func currentNumbers(_ number: Int) -> [Int] {
    transactions[number].databases.map { rows[$0]?.number ?? 0 }
  }

  // MARK: Rows of databases

  /// Locks the rows of the transaction's databases in ascending order. At the first row that
  /// another transaction has locked, this transaction waits.
  private mutating func lock(_ number: Int) {
    while transactions[number].locked < transactions[number].databases.count {
      let database = transactions[number].databases[transactions[number].locked]
      if rows[database]?.isLocked == true {
        rows[database]?.waiting.append(number)
        return
      }
      rows[database, default: SimulatedRow()].isLocked = true
      if database == 0 { hotRowSince = now }
      transactions[number].locked += 1
    }
    if transactions[number].step == .beginning {
      read(number)
    } else if transactions[number].numbers == currentNumbers(number) {
      workInDatabase(number, as: .writing, share: 1 - costs.readShare)
    } else {
      startAgain(number)
    }
  }

  /// Repeats a transaction because another server has committed to one of its databases since it
  /// read them.
  private mutating func startAgain(_ number: Int) {
    unlock(number)
    if isMeasuring { result.repeatedTransactions += 1 }
    let (server, writer) = (transactions[number].server, transactions[number].writer)
    if servers[server].isDead { return forget(number) }
    servers[server].cautious[writer] = scenario.cautiousTransactions
    transactions[number].locksFirst = true
    transactions[number].step = .beginning
    events.add(.transaction(number), at: now + costs.roundTrip)
  }

  /// Releases the locks of a transaction. The first transaction that waits for a row, and is not
  /// dead, locks that row and continues.
  mutating func unlock(_ number: Int) {
    let locked = transactions[number].databases[..<transactions[number].locked]
    transactions[number].locked = 0
    for database in locked {
      if database == 0, let since = hotRowSince {
        if isMeasuring { result.lockUtilization += now - since }
        hotRowSince = nil
      }
      rows[database]?.isLocked = false
      var next = rows[database]?.waiting.removeFirst()
      while let waiting = next, transactions[waiting].isDead {
        next = rows[database]?.waiting.removeFirst()
      }
      if let next { lock(next) }
    }
  }

  // MARK: The log

  private mutating func beginFlush(of shard: Int) {
    let commits = shards[shard].waiting
    shards[shard] = SimulatedShard(flushing: commits)
    let bytes = commits.reduce(0) { $0 + transactions[$1].work.logBytes }
    events.add(.flushEnds(shard: shard), at: now + costs.flush + bytes / costs.logBandwidth)
  }

  /// Ends a flush. Its transactions release their locks, and the next flush starts if commits wait.
  mutating func endFlush(of shard: Int) {
    let flushed = shards[shard].flushing
    shards[shard].flushing = []
    if !shards[shard].waiting.isEmpty { beginFlush(of: shard) }
    for number in flushed {
      for database in transactions[number].databases { rows[database]?.number += 1 }
      unlock(number)
      send(number, as: .answering)
    }
  }

  /// Ends a committed transaction: frees the writer, answers the saves, and ends the batches whose
  /// notifications it wrote.
  private mutating func end(_ number: Int) {
    let ended = transactions[number]
    let server = ended.server
    if isMeasuring { result.transactions += 1 }
    servers[server].freeWriters.append(ended.writer)
    servers[server].databases.subtract(ended.databases)
    for database in ended.databases {
      for job in servers[server].blocked.removeValue(forKey: database) ?? [] {
        servers[server].queues[job.kind].append(job)
      }
    }
    transactions[number].jobs = []
    freeTransactions.append(number)
    for job in ended.jobs {
      guard let save = job.save else {
        endDispatching(job.database, on: server)
        continue
      }
      if scenario.isDispatched {
        noteChange(in: job.database, savedBy: server, takenAt: saves[save].taken)
      }
      answer(save)
    }
    startWriters(of: server)
  }
}
