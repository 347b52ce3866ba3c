extension ClusterSimulation {
  // MARK: Arrivals

  /// Makes a save, and schedules the next arrival. A client sends its next save when this one is
  /// answered.
  mutating func arrive(on line: Int) {
    switch scenario.arrivals {
    case .random(let rate):
      events.add(.arrival(line: 0), at: now + random.exponential(mean: 1 / rate))
    case .even(let rate):
      events.add(.arrival(line: (line + 1) % servers.count), at: now + 1 / rate)
    case .clients: break
    }
    makeSave(on: line)
  }

  /// Creates a save into a random database: public with the probability
  /// ``ScaleScenario/publicShare``.
  private mutating func makeSave(on line: Int) {
    let database: Int
    if random.unit() < scenario.publicShare {
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
    if scenario.isOneMachine {
      work(.load(save: number), seconds: costs.load, on: 0)
    } else {
      receive(number)
    }
  }

  /// Returns the server that receives a save. If that server is dead, another one is chosen at
  /// random.
  private mutating func chooseServer(of database: Int, line: Int) -> Int {
    let first =
      switch scenario.arrivals {
      case .random where database >= scenario.publicDatabases: database % servers.count
      case .random: random.below(servers.count)
      case .even, .clients: line % servers.count
      }
    return servers[first].isDead ? anotherServer(than: first) : first
  }

  mutating func anotherServer(than server: Int) -> Int {
    let next = random.below(servers.count - 1)
    return next < server ? next : next + 1
  }

  mutating func receive(_ save: Int) {
    let seconds =
      costs.preparedShare * costs.save.server + (scenario.readsCaller ? costs.caller.server : 0)
    work(.request(save: save), seconds: seconds, on: station(ofServer: saves[save].server))
  }

  /// Reads the user who sent a save. The model has no limit for such reads at the same time.
  mutating func readCaller(of save: Int) {
    guard scenario.readsCaller else { return enqueue(save) }
    events.add(
      .callerRead(save: save), at: now + ScaleCosts.callerRoundTrips * costs.roundTrip)
  }

  // MARK: Writers

  /// Queues a save for a writer of its server, unless ``ScaleScenario/waitingWrites`` jobs wait
  /// already. If the server is dead, the client sends the save to another one.
  mutating func enqueue(_ save: Int) {
    let server = saves[save].server
    if servers[server].isDead { return repeatElsewhere(save) }
    guard servers[server].waiting < scenario.waitingWrites else {
      if isMeasuring { result.refused += 1 }
      return free(save)
    }
    saves[save].taken = now
    add(Job(database: saves[save].database, save: save), to: server)
  }

  mutating func add(_ job: Job, to server: Int) {
    if servers[server].waiting == 0 { servers[server].waitingSince = now }
    servers[server].waiting += 1
    if servers[server].databases.contains(job.database) {
      servers[server].blocked[job.database, default: []].append(job)
    } else {
      servers[server].queues[job.kind].append(job)
      startWriters(of: server)
    }
  }

  mutating func startWriters(of server: Int) {
    while !servers[server].isDead, servers[server].waiting > 0,
      let writer = servers[server].freeWriters.last, !leavesFewJobs(of: server)
    {
      let jobs = takeJobs(of: server)
      if jobs.isEmpty { return }
      servers[server].freeWriters.removeLast()
      servers[server].waiting -= jobs.count
      servers[server].waitingSince = now
      let databases = Set(jobs.map(\.database)).sorted()
      servers[server].databases.formUnion(databases)
      let isCautious = servers[server].cautious[writer] > 0
      if isCautious { servers[server].cautious[writer] -= 1 }
      begin(
        SimulatedTransaction(
          server: server, writer: writer, jobs: jobs, databases: databases,
          locksFirst: isCautious, work: work(of: jobs)))
    }
  }

  /// Whether the waiting jobs are left to a writer at work.
  private mutating func leavesFewJobs(of server: Int) -> Bool {
    let state = servers[server]
    let due = state.waitingSince + scenario.fewJobsSeconds
    guard scenario.shards == 1, state.waiting < scenario.fewJobs, now < due,
      state.freeWriters.count < scenario.writersPerServer
    else { return false }
    if !state.hasWatch {
      servers[server].hasWatch = true
      events.add(.writersLook(server: server), at: due)
    }
    return true
  }

  /// Takes the jobs for a transaction. None is of a database that another transaction of this
  /// server uses. On several shards, all jobs are of one database. Otherwise a writer gets its share
  /// of the waiting jobs, and all others of the same databases.
  private mutating func takeJobs(of server: Int) -> [Job] {
    let busy = servers[server].databases
    let share = max(
      scenario.fewJobs,
      (servers[server].waiting + scenario.writersPerServer - 1) / scenario.writersPerServer)
    for queue in [servers[server].turn, 1 - servers[server].turn] {
      var databases: Set<Int> = []
      var count = 0
      let jobs = servers[server].queues[queue].take(
        most: scenario.writesPerCommit, looks: scenario.writesPerCommit
      ) { [isAlone = scenario.shards > 1] job in
        guard !busy.contains(job.database),
          databases.isEmpty || databases.contains(job.database) || !isAlone && count < share
        else { return false }
        databases.insert(job.database)
        count += 1
        return true
      }
      guard !jobs.isEmpty else { continue }
      servers[server].turn = 1 - queue
      return jobs
    }
    return []
  }

  // MARK: Answers

  mutating func answer(_ save: Int) {
    if isMeasuring {
      result.saved += 1
      result.saveDelay.record(now - saves[save].arrival)
    }
    free(save)
  }

  /// Frees the place of a save in ``saves``. A client then sends its next save.
  private mutating func free(_ save: Int) {
    freeSaves.append(save)
    if case .clients = scenario.arrivals { makeSave(on: saves[save].line) }
  }
}
