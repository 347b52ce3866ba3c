extension ClusterSimulation {
  // MARK: Arrivals

  /// Handles an arrival: makes a save, and schedules the next arrival. A client needs no schedule,
  /// because it sends its next save when the previous one is answered.
  ///
  /// - Parameter line: The number of the line or client.
  mutating func arrive(on line: Int) {
    switch scenario.arrivals {
    case .random(let rate):
      events.add(.arrival(line: 0), at: now + random.exponential(mean: 1 / rate))
      makeSave(on: line)
    case .even(let rate, let lines):
      events.add(.arrival(line: line), at: now + Double(lines) / rate)
      // If the line still waits for the answer to its previous save, it sends this one after that
      // answer. The delay of the late save counts only from then.
      if busyLines[line] { lateArrivals[line] += 1 } else { makeSave(on: line) }
    case .clients:
      makeSave(on: line)
    }
  }

  /// Creates a save into a random database: public with the probability
  /// ``ScaleScenario/publicShare``.
  private mutating func makeSave(on line: Int) {
    busyLines[line] = true
    let isPublic = random.unit() < scenario.publicShare
    let database: Int
    if isPublic {
      let place = random.unit()
      database = cumulativeParts.firstIndex { place < $0 } ?? cumulativeParts.count - 1
    } else {
      database = scenario.publicDatabases + random.below(scenario.users)
    }
    if isMeasuring { result.offered += 1 }
    let save = Save(
      arrival: now, database: database, server: chooseServer(of: database, line: line), line: line)
    let number = freeSaves.popLast() ?? saves.count
    if number == saves.count { saves.append(save) } else { saves[number] = save }
    begin(number)
  }

  /// Returns the server that receives a save. If that server is dead, another one is chosen at
  /// random. With random arrivals and ``ScaleScenario/isSticky``, all saves into a private database
  /// go to the same server.
  private mutating func chooseServer(of database: Int, line: Int) -> Int {
    let first =
      switch scenario.arrivals {
      case .random where scenario.isSticky && database >= scenario.publicDatabases:
        database % servers.count
      case .random: random.below(servers.count)
      // Each line or client has a connection to one server.
      case .even, .clients: line % servers.count
      }
    guard servers[first].isDead else { return first }
    let next = random.below(servers.count - 1)
    return next < first ? next : next + 1
  }

  /// Starts a save. If all run on one machine, the load generator first uses processor time to send
  /// the save.
  mutating func begin(_ save: Int) {
    if scenario.isOneMachine {
      work(.load(save: save), seconds: costs.load, on: 0)
    } else {
      receive(save)
    }
  }

  /// Adds the parsing and checking of a save to the server's processors.
  mutating func receive(_ save: Int) {
    work(
      .request(save: save),
      seconds: costs.request + costs.requestReads * costs.serverStatement,
      waking: costs.requestReads * costs.serverWaking,
      on: station(ofServer: saves[save].server))
  }

  // MARK: Readers

  /// Uses a read-only connection of the server to read the account of the user who sent a save.
  /// Without ``ScaleCosts/requestReads``, the save goes directly to the writers.
  mutating func read(for save: Int) {
    let server = saves[save].server
    guard costs.requestReads > 0 else { return enqueue(save) }
    let seconds =
      costs.requestReads
      * (costs.roundTrip + costs.serverStatement + costs.databaseStatement)
    if let slice = readers[server].add(save, seconds: seconds, at: now) {
      events.add(.readEnds(server: server, slice: slice.number), at: now + slice.seconds)
    }
  }

  /// Frees a read-only connection, and adds PostgreSQL's work for the read to the shard's
  /// processors.
  mutating func endReading(_ slice: Int, on server: Int) {
    let (done, next) = readers[server].end(slice, at: now)
    if let next {
      events.add(.readEnds(server: server, slice: next.number), at: now + next.seconds)
    }
    guard let save = done else { return }
    // The method `receive(_:)` added the server's part of the statements. This work is PostgreSQL's
    // part.
    work(
      .read(save: save), seconds: costs.requestReads * costs.databaseStatement,
      waking: costs.requestReads * costs.databaseWaking,
      on: station(ofShard: saves[save].database % scenario.shards))
  }

  // MARK: Writers

  /// Queues a save for a writer of its server. The server refuses the save if
  /// ``ScaleScenario/waitingWrites`` jobs wait already. If the server is dead, the client sends the
  /// save to another one.
  mutating func enqueue(_ save: Int) {
    let server = saves[save].server
    if servers[server].isDead { return repeatElsewhere(save) }
    guard servers[server].waiting < scenario.waitingWrites else {
      if isMeasuring { result.refused += 1 }
      return free(save)
    }
    saves[save].taken = now
    add(.save(save), to: server, database: saves[save].database)
  }

  /// Queues a job for the writers of a server, in the queue of the database's shard.
  mutating func add(_ job: Job, to server: Int, database: Int) {
    servers[server].queues[database % scenario.shards].append(job)
    servers[server].waiting += 1
    if isMeasuring {
      result.mostWaitingWrites = max(result.mostWaitingWrites, servers[server].waiting)
    }
    startWriters(of: server)
  }

  /// Returns the number of the database that a job writes to.
  func database(of job: Job) -> Int {
    switch job {
    case .save(let save): saves[save].database
    case .completion(let database): database
    }
  }

  /// Starts transactions with waiting jobs, as long as the server has free writers. A transaction
  /// has jobs of one shard, and only of databases that no open transaction of this server uses.
  /// Without ``ScaleScenario/mixesDatabases``, all its jobs are for the same database.
  ///
  /// Shards take turns. A transaction gets at most ``ScaleScenario/writesPerCommit`` jobs, found
  /// among the first jobs of the queue: four times that limit. With mixed databases, a transaction
  /// gets at most the number of waiting jobs divided by the number of the server's writers, rounded
  /// up. The remaining jobs are for the other writers.
  mutating func startWriters(of server: Int) {
    guard !servers[server].isDead, servers[server].waiting > 0 else { return }
    var idle = 0
    while servers[server].freeWriters > 0, servers[server].waiting > 0, idle < scenario.shards {
      let shard = servers[server].nextShard
      servers[server].nextShard = (shard + 1) % scenario.shards
      guard !servers[server].queues[shard].isEmpty else {
        idle += 1
        continue
      }
      let taken = servers[server].databases
      var queue = FirstInFirstOut<Job>()
      swap(&queue, &servers[server].queues[shard])
      var only: Int?
      let mixes = scenario.mixesDatabases
      let share = (queue.count + servers[server].writers - 1) / servers[server].writers
      let jobs = queue.take(
        most: min(scenario.writesPerCommit, mixes ? share : .max),
        looks: 4 * scenario.writesPerCommit
      ) { job in
        let database = database(of: job)
        guard !taken.contains(database), mixes || only ?? database == database else {
          return false
        }
        only = database
        return true
      }
      swap(&queue, &servers[server].queues[shard])
      guard !jobs.isEmpty else {
        idle += 1
        continue
      }
      idle = 0
      servers[server].noteWriters(at: now)
      servers[server].freeWriters -= 1
      servers[server].waiting -= jobs.count
      let databases = Set(jobs.map { database(of: $0) }).sorted()
      servers[server].databases.formUnion(databases)
      begin(SimulatedTransaction(server: server, shard: shard, jobs: jobs, databases: databases))
    }
  }

  /// Records a save whose client has the answer, and frees its place.
  mutating func answer(_ save: Int) {
    let ended = saves[save]
    if isMeasuring {
      result.saved += 1
      result.saveDelay.record(now - ended.arrival)
    }
    free(save)
  }

  /// Frees the place of a save in ``saves``. A client then sends its next save. A line with late
  /// saves sends one of them.
  private mutating func free(_ save: Int) {
    let line = saves[save].line
    freeSaves.append(save)
    busyLines[line] = false
    switch scenario.arrivals {
    case .random: break
    case .clients: makeSave(on: line)
    case .even:
      if lateArrivals[line] > 0 {
        lateArrivals[line] -= 1
        makeSave(on: line)
      }
    }
  }
}
