/// A simulation of Petrel servers on the shards of a PostgreSQL cluster, event by event. It is
/// deterministic: equal scenarios, costs and seeds give equal results.
///
/// The path of a save:
///
/// 1. A processor of a server handles the request, and reads the user who sent it (the caller).
/// 2. The save waits for a writer, which puts it into one transaction with other saves.
/// 3. The transaction takes two round trips. In the first one it reads, without a lock. Then the
///    server decides. In the second one it locks the rows of its databases, and checks that nobody
///    has changed what it read. It writes, and shares a flush of the log with other commits.
/// 4. If the check fails, the transaction is repeated, and locks in the first round trip. So do the
///    writer's next transactions.
/// 5. The server with the database's lease dispatches the change: it matches the change against the
///    subscriptions, and another transaction writes the notifications.
///
/// The words of the model:
///
/// - A *shard* is a PostgreSQL node with a part of the databases. Its *log* is its write-ahead log.
/// - A *writer* is a thread of a server with one connection to PostgreSQL.
/// - A *lease* is the right of one server to dispatch the changes of a database. That server is the
///   *holder*.
/// - The *outbox* is the table of the store with the changes that are not dispatched yet.
/// - A *wake-up* informs the holder about a change that another server saved. The holder *catches
///   up*: it reads the outbox.
/// - A *firing* is a notification: one change that matched one subscription.
/// - A *station* is the cores of one machine, with the queue of the work that waits for them
///   (``ProcessorStation``).
/// - A *lane* is a database with its changes that wait for dispatch (``SimulatedLane``).
/// - A *batch* is the changes of one database that the holder dispatches together.
///
/// Time is simulated time in seconds from the beginning.
public struct ClusterSimulation {
  /// An event of the simulation.
  enum Event {
    /// A save arrives, from a client or for a server with this number.
    case arrival(line: Int)
    /// A core has used up a time slice for its work, or finished the work.
    case sliceEnds(station: Int, slice: Int)
    /// The round trips that read the caller are over.
    case callerRead(save: Int)
    /// A few jobs have waited long enough for a writer at work.
    case writersLook(server: Int)
    case transaction(Int)
    case flushEnds(shard: Int)
    /// The holder of a database's lease receives a wake-up.
    case wake(database: Int)
    case death
    /// PostgreSQL ends the transactions of the dead server, and with them their locks.
    case locksEnd
    /// Another server takes the lease of a dead holder over.
    case takeOver(database: Int)
    case moment
  }

  /// A step of the model that uses processor time at a station.
  enum Work {
    /// The load generator creates and sends a save.
    case load(save: Int)
    /// A server parses, checks and answers a save.
    case request(save: Int)
    /// PostgreSQL reads the caller of a save.
    case caller(save: Int)
    /// PostgreSQL or the server works for a transaction.
    case transaction(Int)
    /// PostgreSQL reads the outbox for a holder that catches up.
    case outbox(database: Int, server: Int)
    /// The holder catches up.
    case catchUp(database: Int, server: Int)
    /// A server matches a batch of changes against the subscriptions.
    case match(database: Int, server: Int)
    /// A server reads the index of a database.
    case index(database: Int, server: Int)
    /// Pushes are delivered, and their outcomes recorded. Nothing waits for the end.
    case deliveries
  }

  /// A save on its way from the client to the answer.
  struct Save {
    var arrival: Double
    /// The time when the save began to wait for a writer. The dispatch delay counts from this time.
    var taken = 0.0
    var database: Int
    var server: Int
    var line: Int
  }

  /// A write that waits for a writer, or that is in a transaction.
  struct Job {
    var database: Int
    /// The place in ``ClusterSimulation/saves``; `nil` for the batch of the database's lane.
    var save: Int?
    /// The place in ``SimulatedServer/queues``.
    var kind = 0
  }

  let scenario: ScaleScenario
  let costs: ScaleCosts

  var now = 0.0
  var events = EventQueue<Event>()
  var random: SeededRandom
  var result = ScaleResult()
  var isMeasuring = false
  /// The servers' processors, followed by the shards'. On one machine there is only one station.
  private var stations: [ProcessorStation<Work>]
  /// The saves by number; ``freeSaves`` has the numbers to use again.
  var saves: [Save] = []
  var freeSaves: [Int] = []
  var servers: [SimulatedServer]
  var shards: [SimulatedShard]
  /// The transactions by number; ``freeTransactions`` has the numbers to use again.
  var transactions: [SimulatedTransaction] = []
  var freeTransactions: [Int] = []
  /// The rows that were written, by database.
  var rows: [Int: SimulatedRow] = [:]
  /// The databases that have had changes, by number.
  var lanes: [Int: SimulatedLane] = [:]
  var waitingChanges = 0
  /// The part of ``waitingChanges`` in databases whose holder is dead.
  var orphanedChanges = 0
  /// For each public database, its share of the saves to all public databases (0–1).
  let parts: [Double]
  /// The cumulative sums of ``parts``, to draw a database.
  let cumulativeParts: [Double]
  /// The start of the current lock on the row of the busiest public database, or the start of
  /// measuring if the lock is older. The value is `nil` while the row is free.
  var hotRowSince: Double?
  /// The time when other servers take over the leases of the dead server.
  var takingOverAt = Double.infinity

  /// Seconds that a core works on a piece of work before the next piece gets the core.
  private static let slice = 0.001
  /// Seconds between two records of the waiting changes.
  private static let momentSeconds = 0.1

  private init(_ scenario: ScaleScenario, _ costs: ScaleCosts) {
    self.scenario = scenario
    self.costs = costs
    random = SeededRandom(seed: scenario.seed)
    parts = scenario.publicParts
    var sum = 0.0
    cumulativeParts = parts.map { part in
      sum += part
      return sum
    }
    servers = (0..<scenario.servers).map { _ in
      SimulatedServer(writers: scenario.writersPerServer)
    }
    shards = [SimulatedShard](repeating: SimulatedShard(), count: scenario.shards)
    let cores =
      scenario.isOneMachine
      ? [scenario.coresPerServer]
      : [Int](repeating: scenario.coresPerServer, count: scenario.servers)
        + [Int](repeating: scenario.coresPerShard, count: scenario.shards)
    stations = cores.map { ProcessorStation(cores: $0, slice: Self.slice) }
  }

  /// Runs a simulation to its end and returns the result.
  public static func run(_ scenario: ScaleScenario, _ costs: ScaleCosts) -> ScaleResult {
    var simulation = ClusterSimulation(scenario, costs)
    return simulation.run()
  }

  private mutating func run() -> ScaleResult {
    switch scenario.arrivals {
    case .random, .even: events.add(.arrival(line: 0), at: 0)
    case .clients(let count):
      for line in 0..<count { events.add(.arrival(line: line), at: Double(line) * 1e-5) }
    }
    if let death = scenario.death { events.add(.death, at: death) }
    events.add(.moment, at: 0)
    let end = scenario.warmUpSeconds + scenario.seconds
    while let (time, event) = events.removeFirst(), time <= end {
      if !isMeasuring, time >= scenario.warmUpSeconds { beginMeasuring() }
      now = time
      result.events += 1
      handle(event)
    }
    now = end
    finish()
    return result
  }

  private mutating func beginMeasuring() {
    isMeasuring = true
    now = scenario.warmUpSeconds
    for place in stations.indices { stations[place].beginMeasuring(at: now) }
    if hotRowSince != nil { hotRowSince = now }
  }

  private mutating func finish() {
    result.seconds = scenario.seconds
    let used = stations.indices.map { stations[$0].utilization(at: now) }
    let (ofServers, ofShards) =
      scenario.isOneMachine
      ? (used[...], used[...]) : (used[..<servers.count], used[servers.count...])
    result.serverUtilization = ofServers.reduce(0, +) / Double(ofServers.count)
    result.shardUtilization = ofShards.reduce(0, +) / Double(ofShards.count)
    if let since = hotRowSince { result.lockUtilization += now - since }
    result.lockUtilization /= scenario.seconds
    result.waitingChangesAtEnd = waitingChanges
    result.recovery?.isComplete = !lanes.values.contains { $0.isOrphan }
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .arrival(let line): arrive(on: line)
    case .sliceEnds(let station, let slice):
      let (done, next) = stations[station].end(slice, at: now)
      if let next { follow(next, on: station) }
      if let done { finish(done) }
    case .callerRead(let save):
      work(
        .caller(save: save), seconds: costs.caller.database,
        on: station(ofShard: shard(of: saves[save].database)))
    case .writersLook(let server):
      servers[server].hasWatch = false
      startWriters(of: server)
    case .transaction(let number): goOn(number)
    case .flushEnds(let shard): endFlush(of: shard)
    case .wake(let database):
      lanes[database]?.hasPendingWakeUp = false
      serve(database)
    case .death: die()
    case .locksEnd: endLocksOfTheDead()
    case .takeOver(let database): takeOver(database)
    case .moment:
      result.moments.append(
        ScaleResult.Moment(
          second: now, waitingChanges: waitingChanges, orphanedChanges: orphanedChanges))
      events.add(.moment, at: now + Self.momentSeconds)
    }
  }

  // MARK: Processors

  func shard(of database: Int) -> Int { database % scenario.shards }

  func station(ofServer server: Int) -> Int { scenario.isOneMachine ? 0 : server }
  func station(ofShard shard: Int) -> Int {
    scenario.isOneMachine ? 0 : scenario.servers + shard
  }

  /// Adds work to a station. The next step of work of 0 seconds starts at once.
  mutating func work(_ work: Work, seconds: Double, on station: Int) {
    guard seconds > 0 else { return finish(work) }
    guard let slice = stations[station].add(work, seconds: seconds, at: now) else { return }
    follow(slice, on: station)
  }

  private mutating func follow(_ slice: ProcessorStation<Work>.Slice, on station: Int) {
    events.add(.sliceEnds(station: station, slice: slice.number), at: now + slice.seconds)
  }

  private mutating func finish(_ work: Work) {
    switch work {
    case .load(let save): receive(save)
    case .request(let save): readCaller(of: save)
    case .caller(let save): enqueue(save)
    case .transaction(let number): goOn(number)
    case .outbox(let database, let server):
      self.work(
        .catchUp(database: database, server: server), seconds: costs.catchUp.server,
        on: station(ofServer: server))
    case .catchUp(let database, let server): match(database, on: server)
    case .match(let database, let server): endMatching(database, on: server)
    case .index(let database, let server): endIndexing(database, on: server)
    case .deliveries: break
    }
  }
}
