/// A simulation of Petrel servers on the shards of a PostgreSQL cluster, event by event. It is
/// deterministic: equal scenarios, costs and seeds give equal results.
///
/// The path of a save:
///
/// 1. A processor of a server handles the request. A read-only connection reads the account of the
///    user who sent the request (the caller).
/// 2. The save waits for a writer, which puts it into one transaction with other saves for the same
///    shard.
/// 3. The transaction locks the rows of its databases in order, waits for its round trips, and uses
///    processors of the server and of PostgreSQL. It shares a flush of the shard's log with other
///    commits.
/// 4. The server with the database's lease dispatches the change: it matches the change against the
///    subscriptions, and a second transaction writes the notifications. Then the server sends the
///    pushes.
///
/// The words of the model:
///
/// - A *shard* is a PostgreSQL node with a part of the databases. Its *log* is its write-ahead log.
/// - A *writer* is a thread of a server with one connection to PostgreSQL.
/// - A *lease* is the right of one server to dispatch the changes of a database. That server is the
///   *holder*.
/// - The *outbox* is the table of the store with the changes that are not dispatched yet.
/// - A *wake-up* informs the holder about a change that another server saved.
/// - A *firing* is a notification: one change that matched one subscription.
/// - A *line* is a sender of saves. An even load has several lines, each with at most one
///   unanswered save. Each client of ``ScaleScenario/Arrivals/clients(_:)`` is a line. Random
///   arrivals all use line 0.
/// - A *station* is the cores of one machine, with the queue of the work that waits for them
///   (``ProcessorStation``).
/// - A *lane* is a database with its changes that wait for dispatch (``SimulatedLane``).
/// - A *batch* is the changes of one database that the holder dispatches together. Its *completion*
///   is the second transaction, which writes the notifications.
/// - A *moment* is a record of the queues' lengths.
///
/// Time is simulated time in seconds from the beginning. Nothing waits for a real clock.
public struct ClusterSimulation {
  /// An event of the simulation.
  enum Event {
    /// A save arrives on a line or from a client.
    case arrival(line: Int)
    /// A core has used up a time slice for its work, or finished the work.
    case sliceEnds(station: Int, slice: Int)
    /// A read-only connection of a server has read the account for a save.
    case readEnds(server: Int, slice: Int)
    /// A pause of a transaction is over: a round trip, or several of them.
    case transaction(Int)
    /// A flush of a shard's log is complete.
    case flushEnds(shard: Int)
    /// APNs has answered pushes of a server.
    case pushesEnd(server: Int, count: Int)
    /// The holder of a database's lease receives a wake-up.
    case wake(database: Int)
    /// The last server dies.
    case death
    /// PostgreSQL ends the transactions of the dead server, and with them their locks.
    case locksEnd
    /// The lease of a database has expired because its holder is dead. Another server takes the
    /// lease over.
    case takeOver(database: Int)
    /// The lengths of the queues are recorded.
    case moment
  }

  /// A step of the model that uses processor time at a station.
  enum Work {
    /// The load generator creates and sends a save. The model has this work only if
    /// ``ScaleScenario/isOneMachine`` is `true`.
    case load(save: Int)
    /// A server parses, checks and answers a save.
    case request(save: Int)
    /// PostgreSQL executes the read of the account for a save.
    case read(save: Int)
    /// A server handles the statements of a transaction.
    case server(transaction: Int)
    /// PostgreSQL executes the statements of a transaction.
    case postgreSQL(transaction: Int)
    /// PostgreSQL executes the statements of a wake-up.
    case notificationInPostgreSQL(database: Int)
    /// A server handles the statements of a wake-up.
    case notificationInServer(database: Int)
    /// A server matches a batch of changes against the subscriptions.
    case match(database: Int, server: Int)
    /// A server reads the index of a database.
    case index(database: Int, server: Int)
    /// A server sends pushes and records their outcomes.
    case pushes(server: Int, count: Int)
  }

  /// A save on its way from the client to the answer.
  struct Save {
    /// The time of its arrival, in seconds.
    var arrival: Double
    /// The time when the server put the save into the queue for a writer. The dispatch delay counts
    /// from this time.
    var taken = 0.0
    /// The number of its database.
    var database: Int
    /// The server that has the save now.
    var server: Int
    /// The line that sent the save.
    var line: Int
  }

  /// A write that waits for a writer, or that is in a transaction.
  enum Job {
    /// A save, by its place in ``ClusterSimulation/saves``.
    case save(Int)
    /// The notifications of the matched batch of a database's lane.
    case completion(database: Int)
  }

  /// The load and the machines.
  public let scenario: ScaleScenario
  /// The costs of each operation.
  public let costs: ScaleCosts

  /// The current simulated time, in seconds.
  var now = 0.0
  var events = EventQueue<Event>()
  var random: SeededRandom
  var result = ScaleResult()
  /// Whether the warm-up is over.
  var isMeasuring = false
  /// The servers' processors, followed by the shards'. On one machine there is only one station.
  var stations: [ProcessorStation<Work>]
  /// The read-only connections of each server.
  var readers: [ProcessorStation<Int>]
  /// The saves by number; ``freeSaves`` has the numbers to use again.
  var saves: [Save] = []
  var freeSaves: [Int] = []
  var servers: [SimulatedServer]
  var shards: [SimulatedShard]
  /// The transactions by number; ``freeTransactions`` has the numbers to use again.
  var transactions: [SimulatedTransaction] = []
  var freeTransactions: [Int] = []
  /// The locked rows, by database.
  var rows: [Int: SimulatedRow] = [:]
  /// The databases that have had changes, by number.
  var lanes: [Int: SimulatedLane] = [:]
  /// Changes that are saved and not dispatched yet.
  var waitingChanges = 0
  /// The part of ``waitingChanges`` in databases whose holder is dead.
  var orphanedChanges = 0
  /// For each public database, its share of the saves to all public databases (0–1).
  let parts: [Double]
  /// The cumulative sums of ``parts``, to draw a database.
  let cumulativeParts: [Double]
  /// The probability that the index of a private database is in memory when the database has its
  /// first change (0–1).
  let warmShare: Double
  /// For each line, the number of saves that are due but wait until the line's previous save is
  /// answered.
  var lateArrivals: [Int]
  /// For each line, whether its save is unanswered. Random arrivals ignore this value.
  var busyLines: [Bool]
  /// The start of the current lock on the row of the busiest public database, or the start of
  /// measuring if the lock is older. The value is `nil` while the row is free.
  var hotRowSince: Double?
  /// The time when other servers find the expired leases of the dead server and take them over. The
  /// value is infinite before a death.
  var takingOverAt = Double.infinity

  /// Seconds that a core works on a piece of work before the next piece gets the core.
  private static let slice = 0.001
  /// Seconds between two records of the queues' lengths.
  static let momentSeconds = 0.1

  /// Creates a simulation at time 0.
  public init(_ scenario: ScaleScenario, _ costs: ScaleCosts) {
    self.scenario = scenario
    self.costs = costs
    random = SeededRandom(seed: scenario.seed)
    parts = scenario.publicParts
    var sum = 0.0
    cumulativeParts = parts.map { part in
      sum += part
      return sum
    }
    warmShare = scenario.warmShare(costs)
    servers = (0..<scenario.servers).map { _ in
      SimulatedServer(shards: scenario.shards, writers: scenario.writersPerServer)
    }
    shards = (0..<scenario.shards).map { _ in SimulatedShard() }
    let cores =
      scenario.isOneMachine
      ? [scenario.coresPerServer]
      : [Int](repeating: scenario.coresPerServer, count: scenario.servers)
        + [Int](repeating: scenario.coresPerShard, count: scenario.shards)
    stations = cores.map { ProcessorStation(cores: $0, slice: Self.slice) }
    readers = (0..<scenario.servers).map { _ in
      ProcessorStation(cores: scenario.readersPerServer)
    }
    let lines =
      switch scenario.arrivals {
      case .random: 1
      case .even(_, let lines): lines
      case .clients(let count): count
      }
    lateArrivals = [Int](repeating: 0, count: lines)
    busyLines = [Bool](repeating: false, count: lines)
  }

  /// Runs a simulation to its end and returns the result.
  public static func run(_ scenario: ScaleScenario, _ costs: ScaleCosts) -> ScaleResult {
    var simulation = ClusterSimulation(scenario, costs)
    return simulation.run()
  }

  /// Runs all events until the end of the measured time.
  mutating func run() -> ScaleResult {
    begin()
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

  /// Schedules the first arrivals, the death and the first record of the queues.
  private mutating func begin() {
    switch scenario.arrivals {
    case .random: events.add(.arrival(line: 0), at: 0)
    case .even(let rate, let lines):
      for line in 0..<lines { events.add(.arrival(line: line), at: Double(line) / rate) }
    case .clients(let count):
      for line in 0..<count { events.add(.arrival(line: line), at: Double(line) * 1e-5) }
    }
    if let death = scenario.death { events.add(.death, at: death.second) }
    events.add(.moment, at: 0)
  }

  /// Ends the warm-up: resets the counters of stations, shards and servers. The figures in
  /// ``result`` start here, except ``ScaleResult/events``, ``ScaleResult/moments`` and
  /// ``ScaleResult/recovery``, which also cover the warm-up.
  private mutating func beginMeasuring() {
    isMeasuring = true
    now = scenario.warmUpSeconds
    for place in stations.indices { stations[place].beginMeasuring(at: now) }
    for place in shards.indices { shards[place].beginMeasuring(at: now) }
    for place in servers.indices { servers[place].beginMeasuring(at: now) }
    if hotRowSince != nil { hotRowSince = now }
  }

  /// Computes the figures of the result that are known only at the end of the simulation, such as
  /// utilizations. The method `finish(_:)` has another purpose: it continues after a piece of work.
  private mutating func finish() {
    result.seconds = scenario.seconds
    let used = stations.map { $0.utilization(at: now) }
    let (ofServers, ofShards) =
      scenario.isOneMachine
      ? (used[...], used[...]) : (used[..<servers.count], used[servers.count...])
    result.serverUtilization = ofServers.reduce(0, +) / Double(ofServers.count)
    result.busiestServer = ofServers.max() ?? 0
    result.shardUtilization = ofShards.reduce(0, +) / Double(ofShards.count)
    result.busiestShard = ofShards.max() ?? 0
    result.logUtilization =
      shards.reduce(0) { $0 + $1.busySeconds(at: now) } / scenario.seconds / Double(shards.count)
    for place in servers.indices { servers[place].noteWriters(at: now) }
    result.writerUtilization =
      servers.reduce(0) { $0 + $1.writerSeconds } / scenario.seconds
      / Double(servers.count * scenario.writersPerServer)
    if let since = hotRowSince { result.lockUtilization += now - since }
    result.lockUtilization /= scenario.seconds
    result.jobs = stations.reduce(0) { $0 + $1.jobSeconds } / scenario.seconds
    result.jobsByLittlesLaw = stations.reduce(0) { $0 + $1.staySeconds } / scenario.seconds
    result.waitingChangesAtEnd = waitingChanges
    finishRecovery()
  }

  /// Handles one event.
  private mutating func handle(_ event: Event) {
    switch event {
    case .arrival(let line): arrive(on: line)
    case .sliceEnds(let station, let slice):
      let (done, next) = stations[station].end(slice, at: now)
      if let next { follow(next, on: station) }
      if let done { finish(done) }
    case .readEnds(let server, let slice): endReading(slice, on: server)
    case .transaction(let number): goOn(number)
    case .flushEnds(let shard): endFlush(of: shard)
    case .pushesEnd(let server, let count): endPushes(of: server, count)
    case .wake(let database): wake(database)
    case .death: die()
    case .locksEnd: endLocksOfTheDead()
    case .takeOver(let database): takeOver(database)
    case .moment: noteMoment()
    }
  }

  // MARK: Processors

  /// Returns the place of a server's processors in ``stations``.
  func station(ofServer server: Int) -> Int { scenario.isOneMachine ? 0 : server }
  /// Returns the place of a shard's processors in ``stations``.
  func station(ofShard shard: Int) -> Int {
    scenario.isOneMachine ? 0 : scenario.servers + shard
  }

  /// Adds work to a station. Work of 0 seconds does not wait in the queue: its next step starts at
  /// once.
  ///
  /// - Parameters:
  ///   - work: The work.
  ///   - seconds: The processor seconds of the work.
  ///   - waking: Further seconds if a core is idle, because a thread must be woken.
  ///   - station: The place of the station in ``stations``.
  mutating func work(_ work: Work, seconds: Double, waking: Double = 0, on station: Int) {
    guard seconds > 0 else { return finish(work) }
    let seconds = stations[station].isFull ? seconds : seconds + waking
    guard let slice = stations[station].add(work, seconds: seconds, at: now) else { return }
    follow(slice, on: station)
  }

  /// Schedules the event that ends a slice which has just begun at a station.
  private mutating func follow(_ slice: ProcessorStation<Work>.Slice, on station: Int) {
    events.add(.sliceEnds(station: station, slice: slice.number), at: now + slice.seconds)
  }

  /// Starts the next step after a station has finished a piece of work for a save, a transaction or
  /// a batch.
  private mutating func finish(_ work: Work) {
    switch work {
    case .load(let save): receive(save)
    case .request(let save): read(for: save)
    case .read(let save): enqueue(save)
    case .server(let transaction), .postgreSQL(let transaction): goOn(transaction)
    case .notificationInPostgreSQL(let database): receiveNotification(of: database)
    case .notificationInServer(let database): serve(database)
    case .match(let database, let server): endMatching(database, on: server)
    case .index(let database, let server): endIndexing(database, on: server)
    case .pushes(let server, let count): send(count, from: server)
    }
  }

  /// Records the lengths of the queues and schedules the next record.
  private mutating func noteMoment() {
    result.moments.append(
      ScaleResult.Moment(
        second: now, waitingChanges: waitingChanges, orphanedChanges: orphanedChanges,
        waitingWrites: servers.reduce(0) { $0 + $1.waiting }))
    events.add(.moment, at: now + Self.momentSeconds)
  }
}
