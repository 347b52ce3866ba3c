extension ClusterSimulation {
  // MARK: Arrivals

  /// Handles an arrival. With random and even arrivals, schedules the next one; a client saves
  /// again after its answer.
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

  /// Returns the server that receives a save. With ``ScaleScenario/isSticky``, random saves into a
  /// private database come to the same server while that server lives.
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

  /// Starts a save. On one machine, the load first takes processor time to send it.
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

  /// Reads the caller of a save on a read-only connection: a few round trips with PostgreSQL's
  /// work.
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
    // The request's cost already contains the server's part. This work is PostgreSQL's part.
    work(
      .read(save: save), seconds: costs.requestReads * costs.databaseStatement,
      waking: costs.requestReads * costs.databaseWaking,
      on: station(ofShard: saves[save].database % scenario.shards))
  }

  // MARK: Writers

  /// Queues a save for a writer of its server. The server refuses the save if
  /// ``ScaleScenario/waitingWrites`` are waiting.
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

  /// Gives waiting jobs to free writers. A transaction has jobs of one shard, and only databases
  /// that no other writer of this server has. Without ``ScaleScenario/mixesDatabases``, it has jobs
  /// of one database.
  ///
  /// Shards take turns. A writer takes at most ``ScaleScenario/writesPerCommit`` jobs, and examines
  /// at most four times that limit. With mixed databases a writer takes no more than its share of
  /// the queue: the jobs divided by the writers.
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
      // With mixed databases a writer takes its share of the waiting jobs; the others are for the
      // other writers.
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

  /// Ends a save whose client has the answer.
  mutating func answer(_ save: Int) {
    let ended = saves[save]
    if isMeasuring {
      result.saved += 1
      result.saveDelay.record(now - ended.arrival)
    }
    free(save)
  }

  /// Frees the place of a save, so that its line or client can send the next one.
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
