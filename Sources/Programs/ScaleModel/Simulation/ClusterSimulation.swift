/// Servers on the shards of a PostgreSQL, event by event: a value that is the same each time for a
/// scenario, its costs and its seed.
///
/// A save takes a server's processor, waits for a writer, and shares a transaction with others that wait
/// for the same shard. The transaction locks the rows of its databases in order, pays a round trip for
/// each statement and the processors of both sides, and shares a flush of the shard's log. What it saved is
/// then matched by the server that has the database's lease, and what fires is written by another
/// transaction of that server, after which pushes leave.
public struct ClusterSimulation {
  enum Event {
    case arrival(line: Int)
    case sliceEnds(station: Int, slice: Int)
    /// A reader of a server has read who makes a save.
    case readEnds(server: Int, slice: Int)
    /// A pause of a transaction is over.
    case transaction(Int)
    case flushEnds(shard: Int)
    case pushesEnd(server: Int, count: Int)
    /// The holder of a database's lease hears of changes.
    case wake(database: Int)
    case death
    /// The locks of a dead server's transactions end.
    case locksEnd
    /// The leases of a dead server are over, and another takes one of them.
    case takeOver(database: Int)
    case moment
  }

  /// What a processor works on.
  enum Work {
    case load(save: Int)
    case request(save: Int)
    case read(save: Int)
    case server(transaction: Int)
    case postgreSQL(transaction: Int)
    /// Word of a change is left, heard, and followed to the outbox.
    case wordInPostgreSQL(database: Int)
    case wordInServer(database: Int)
    case match(database: Int, server: Int)
    case index(database: Int, server: Int)
    case pushes(server: Int, count: Int)
  }

  struct Save {
    var arrival: Double
    /// When it began to wait for a writer.
    var taken = 0.0
    var database: Int
    var server: Int
    /// The line or client that made it.
    var line: Int
  }

  /// Something that a writer does.
  enum Job {
    case save(Int)
    /// Of a database, what its lane has matched.
    case completion(database: Int)
  }

  public let scenario: ScaleScenario
  public let costs: ScaleCosts

  var now = 0.0
  var events = EventQueue<Event>()
  var random: SeededRandom
  var result = ScaleResult()
  var isMeasuring = false
  /// The servers' processors, then the shards'; on one machine there is but one.
  var stations: [ProcessorStation<Work>]
  /// The connections that read, of each server.
  var readers: [ProcessorStation<Int>]
  var saves: [Save] = []
  var freeSaves: [Int] = []
  var servers: [SimulatedServer]
  var shards: [SimulatedShard]
  var transactions: [SimulatedTransaction] = []
  var freeTransactions: [Int] = []
  var rows: [Int: SimulatedRow] = [:]
  var lanes: [Int: SimulatedLane] = [:]
  var waitingChanges = 0
  var orphanedChanges = 0
  let parts: [Double]
  let cumulativeParts: [Double]
  let warmShare: Double
  /// Of what waits: an arrival that found its line busy.
  var lateArrivals: [Int]
  var busyLines: [Bool]
  var hotRowSince: Double?
  /// When the leases of a server that died are taken over.
  var takingOverAt = Double.infinity

  /// Seconds that work has a core of a processor before others come.
  private static let slice = 0.001
  static let momentSeconds = 0.1

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

  /// Runs it to its end.
  public static func run(_ scenario: ScaleScenario, _ costs: ScaleCosts) -> ScaleResult {
    var simulation = ClusterSimulation(scenario, costs)
    return simulation.run()
  }

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

  private mutating func beginMeasuring() {
    isMeasuring = true
    now = scenario.warmUpSeconds
    for place in stations.indices { stations[place].beginMeasuring(at: now) }
    for place in shards.indices { shards[place].beginMeasuring(at: now) }
    for place in servers.indices { servers[place].beginMeasuring(at: now) }
    if hotRowSince != nil { hotRowSince = now }
  }

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

  func station(ofServer server: Int) -> Int { scenario.isOneMachine ? 0 : server }
  func station(ofShard shard: Int) -> Int {
    scenario.isOneMachine ? 0 : scenario.servers + shard
  }

  /// - Parameter waking: the seconds that it takes longer where a core is idle.
  mutating func work(_ work: Work, seconds: Double, waking: Double = 0, on station: Int) {
    // What takes no time does not stand in line for it.
    guard seconds > 0 else { return finish(work) }
    let seconds = stations[station].isFull ? seconds : seconds + waking
    guard let slice = stations[station].add(work, seconds: seconds, at: now) else { return }
    follow(slice, on: station)
  }

  private mutating func follow(_ slice: ProcessorStation<Work>.Slice, on station: Int) {
    events.add(.sliceEnds(station: station, slice: slice.number), at: now + slice.seconds)
  }

  private mutating func finish(_ work: Work) {
    switch work {
    case .load(let save): receive(save)
    case .request(let save): read(for: save)
    case .read(let save): enqueue(save)
    case .server(let transaction), .postgreSQL(let transaction): goOn(transaction)
    case .wordInPostgreSQL(let database): hearWord(of: database)
    case .wordInServer(let database): serve(database)
    case .match(let database, let server): endMatching(database, on: server)
    case .index(let database, let server): endIndexing(database, on: server)
    case .pushes(let server, let count): send(count, from: server)
    }
  }

  private mutating func noteMoment() {
    result.moments.append(
      ScaleResult.Moment(
        second: now, waitingChanges: waitingChanges, orphanedChanges: orphanedChanges,
        waitingWrites: servers.reduce(0) { $0 + $1.waiting }))
    events.add(.moment, at: now + Self.momentSeconds)
  }
}
