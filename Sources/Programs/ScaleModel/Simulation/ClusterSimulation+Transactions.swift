extension ClusterSimulation {
  /// Starts a transaction: computes its costs and sends its first statement.
  mutating func begin(_ transaction: SimulatedTransaction) {
    let number = freeTransactions.popLast() ?? transactions.count
    if number == transactions.count {
      transactions.append(transaction)
    } else {
      transactions[number] = transaction
    }
    transactions[number].costs = costs(of: transaction.jobs)
    // The begin and the locks are the first round trip.
    events.add(.transaction(number), at: now + costs.roundTrip)
  }

  /// Returns the costs of a transaction with these jobs.
  private func costs(of jobs: [Job]) -> TransactionCosts {
    var (saved, changes, firings) = (0.0, 0.0, 0.0)
    for job in jobs {
      switch job {
      case .save: saved += 1
      case .completion(let database):
        changes += Double(lanes[database]?.underWay.count ?? 0)
        firings += Double(lanes[database]?.firings ?? 0)
      }
    }
    return costs.transaction(
      saves: saved, changes: changes, firings: firings, pushes: firings * scenario.pushes)
  }

  /// Moves a transaction to its next step, after a pause or a piece of work of that transaction.
  /// Ignores a transaction that ended with the death of its server.
  mutating func goOn(_ number: Int) {
    guard !transactions[number].isDead else { return }
    switch transactions[number].step {
    case .locking: lock(number)
    case .ways:
      transactions[number].step = .server
      work(
        .server(transaction: number), seconds: transactions[number].costs.server,
        waking: transactions[number].costs.serverWaking,
        on: station(ofServer: transactions[number].server))
    case .server:
      transactions[number].step = .postgreSQL
      work(
        .postgreSQL(transaction: number), seconds: transactions[number].costs.postgreSQL,
        waking: transactions[number].costs.postgreSQLWaking,
        on: station(ofShard: transactions[number].shard))
    case .postgreSQL:
      transactions[number].step = .committing
      let shard = transactions[number].shard
      shards[shard].waiting.append(number)
      if !shards[shard].isFlushing { beginFlush(of: shard) }
    case .committing: break
    case .answering: end(number)
    }
  }

  // MARK: Rows of databases

  /// Locks the rows of the transaction's databases in ascending order. At the first row that
  /// another transaction has locked, this transaction waits.
  ///
  /// All transactions use this order, so they cannot deadlock.
  private mutating func lock(_ number: Int) {
    while transactions[number].locked < transactions[number].databases.count {
      let database = transactions[number].databases[transactions[number].locked]
      guard rows[database] == nil else {
        transactions[number].waitsSince = now
        rows[database]?.waiting.append(number)
        return
      }
      take(database)
      transactions[number].locked += 1
    }
    // The statements are sent one after the other. The model first adds the time of their round
    // trips, then the processor time of server and PostgreSQL. Two round trips count elsewhere: the
    // begin with the locks, and the commit.
    transactions[number].step = .ways
    events.add(
      .transaction(number),
      at: now + costs.roundTrip * max(0, transactions[number].costs.roundTrips - 2))
  }

  /// Locks the row of a database. Database 0 is the busiest public one, whose lock time is
  /// measured.
  private mutating func take(_ database: Int) {
    rows[database] = SimulatedRow()
    if database == 0 { hotRowSince = now }
  }

  /// Releases the locks of a transaction. The first transaction that waits for a row, and is not
  /// dead, locks that row and continues.
  mutating func unlock(_ number: Int) {
    for database in transactions[number].databases[..<transactions[number].locked] {
      if database == 0, let since = hotRowSince {
        if isMeasuring { result.lockUtilization += now - since }
        hotRowSince = nil
      }
      guard var row = rows.removeValue(forKey: database) else { continue }
      var next = row.waiting.removeFirst()
      while let waiting = next, transactions[waiting].isDead { next = row.waiting.removeFirst() }
      guard let waiting = next else { continue }
      rows[database] = row
      if database == 0 { hotRowSince = now }
      if isMeasuring { result.lockWaitSeconds += now - transactions[waiting].waitsSince }
      transactions[waiting].locked += 1
      lock(waiting)
    }
    transactions[number].locked = 0
  }

  // MARK: The log

  /// Starts a flush for all commits that wait at the shard.
  private mutating func beginFlush(of shard: Int) {
    shards[shard].begin(at: now)
    let bytes = shards[shard].flushing.reduce(0) { $0 + transactions[$1].costs.logBytes }
    events.add(.flushEnds(shard: shard), at: now + costs.flush + bytes / costs.logBandwidth)
  }

  /// Ends a flush. The transactions of the flush release their locks, and the next flush starts if
  /// commits wait.
  mutating func endFlush(of shard: Int) {
    for number in shards[shard].end(at: now) where !transactions[number].isDead {
      // PostgreSQL releases the locks now; the answer to the commit is still on its way to the
      // server.
      unlock(number)
      transactions[number].step = .answering
      events.add(.transaction(number), at: now + costs.roundTrip)
    }
    if !shards[shard].waiting.isEmpty { beginFlush(of: shard) }
  }

  /// Ends a committed transaction: frees the writer, answers the saves, and ends the batches whose
  /// notifications it wrote.
  private mutating func end(_ number: Int) {
    let ended = transactions[number]
    if isMeasuring {
      result.transactions += 1
      result.statements += ended.costs.statements
    }
    servers[ended.server].noteWriters(at: now)
    servers[ended.server].freeWriters += 1
    servers[ended.server].databases.subtract(ended.databases)
    transactions[number].jobs = []
    freeTransactions.append(number)
    for job in ended.jobs {
      switch job {
      case .save(let save):
        if scenario.isDispatched {
          noteChange(
            in: saves[save].database, savedBy: ended.server, takenAt: saves[save].taken)
        }
        answer(save)
      case .completion(let database): endDispatching(database, on: ended.server)
      }
    }
    startWriters(of: ended.server)
  }
}

extension ScaleCosts {
  /// Returns the costs of a transaction. Statements and pushes may be fractions, because they are
  /// averages.
  ///
  /// - Parameters:
  ///   - saves: The saves in the transaction.
  ///   - changes: The dispatched changes in the transaction.
  ///   - firings: The notifications of these changes.
  ///   - pushes: The pushes of these notifications.
  func transaction(
    saves: Double, changes: Double, firings: Double, pushes: Double
  ) -> TransactionCosts {
    let further = max(0, firings - changes)
    let statements = self.statements.count(saves: saves, changes: changes)
    return TransactionCosts(
      statements: statements,
      roundTrips: (roundTrips ?? self.statements).count(saves: saves, changes: changes),
      server: serverStatement * statements,
      postgreSQL: databaseStatement * (statements + dispatchReads * changes) + databaseCommit
        + databaseFurtherNotification * further + databasePush * pushes,
      serverWaking: serverWaking * statements,
      postgreSQLWaking: databaseWaking * (statements + dispatchReads * changes),
      logBytes: commitLogBytes + saveLogBytes * saves + dispatchLogBytes * changes
        + furtherNotificationLogBytes * further + pushLogBytes * pushes)
  }
}
