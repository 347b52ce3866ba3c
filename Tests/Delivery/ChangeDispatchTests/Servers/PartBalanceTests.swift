import PropertyTesting
import StoreModel
import Testing

@testable import ChangeDispatch

struct PartBalanceTests {
  /// Servers that look at the same leases, one after the other.
  private struct Cluster {
    var balances: [ServerID: PartBalance] = [:]
    var holders: [DatabasePart: ServerID] = [:]
    var parts: [DatabasePart] = []
    /// Registered, but they take nothing.
    var idle: Set<ServerID> = []
    /// Servers that have not heard yet who came and went, with those that they take for registered.
    var late: [ServerID: Set<ServerID>] = [:]
    var changes = 0

    init(databases: Int, parts count: Int) {
      for database in 1...Int64(databases) {
        parts += (0..<count).map {
          DatabasePart(database: DatabaseID(rawValue: database), number: $0, count: count)
        }
      }
    }

    var servers: Set<ServerID> { Set(balances.keys).union(idle) }

    mutating func add(_ number: Int) {
      balances[ServerID(rawValue: Int64(number))] = PartBalance()
    }

    mutating func remove(_ number: Int) {
      let server = ServerID(rawValue: Int64(number))
      balances[server] = nil
      for part in parts where holders[part] == server { holders[part] = nil }
    }

    mutating func look(_ random: inout SeededGenerator) {
      for server in balances.keys.sorted(by: { $0.rawValue < $1.rawValue }).shuffled(using: &random)
      {
        let leases = parts.map { PartLease(part: $0, holder: holders[$0]) }
        let others = (late[server] ?? servers).subtracting([server])
        guard let plan = balances[server]?.plan(leases, for: server, among: others) else {
          continue
        }
        for free in plan.taken where holders[free.part] == nil {
          holders[free.part] = server
          changes += 1
        }
        for part in plan.released where holders[part] == server {
          holders[part] = nil
          changes += 1
        }
      }
    }

    func counts(of database: Int64) -> [Int] {
      balances.keys.map { server in
        parts.count { $0.database.rawValue == database && holders[$0] == server }
      }.sorted()
    }
  }

  @Test("each server comes to have its share, whoever comes and goes", arguments: Seeds.some(40))
  func balance(seed: Int) {
    var random = SeededGenerator(seed: seed)
    let databases = Int.random(in: 1...3, using: &random)
    var cluster = Cluster(databases: databases, parts: Int.random(in: 2...20, using: &random))
    var next = 1
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      cluster.add(next)
      next += 1
    }
    for _ in 0..<6 {
      if Bool.random(using: &random) {
        cluster.add(next)
        next += 1
      } else if cluster.balances.count > 1,
        let gone = cluster.balances.keys.randomElement(using: &random)
      {
        cluster.remove(Int(gone.rawValue))
      }
      for _ in 0..<16 { cluster.look(&random) }
      for database in 1...Int64(databases) {
        let counts = cluster.counts(of: database)
        #expect((counts.last ?? 0) - (counts.first ?? 0) <= 1, "seed \(seed): \(counts)")
      }
      #expect(cluster.holders.count == cluster.parts.count, "seed \(seed)")
      let changes = cluster.changes
      for _ in 0..<20 { cluster.look(&random) }
      #expect(cluster.changes == changes, "seed \(seed): parts go on changing hands")
    }
  }

  @Test("parts that one server leaves alone are taken by the others, and offered ever more seldom")
  func idleServers() {
    var random = SeededGenerator(seed: 1)
    var cluster = Cluster(databases: 2, parts: 6)
    cluster.add(1)
    cluster.add(2)
    cluster.idle = [ServerID(rawValue: 3)]
    for _ in 0..<8 { cluster.look(&random) }
    #expect(cluster.holders.count == 12)
    let changes = cluster.changes
    var looksWithout = 0
    for _ in 0..<5_000 {
      cluster.look(&random)
      if cluster.holders.count < 12 { looksWithout += 1 }
    }
    // Four of the parts are the third's. Who has one offers it after 20 looks, 40, 80 …, eight times in
    // all, and either may be the one that takes it back.
    let offers = (cluster.changes - changes) / 2
    #expect((4...4 * 8 * 2).contains(offers))
    #expect(looksWithout <= offers * (PartBalance.looksBeforeTaking + 1))
  }

  @Test(
    "a server that hears late that another is gone comes to its share", arguments: Seeds.some(20))
  func lateServers(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var cluster = Cluster(databases: 3, parts: 4)
    for number in 1...3 { cluster.add(number) }
    for _ in 0..<8 { cluster.look(&random) }
    let late = ServerID(rawValue: Int64.random(in: 1...2, using: &random))
    cluster.late = [late: cluster.servers]
    cluster.remove(3)
    for _ in 0..<Int.random(in: 1...12, using: &random) { cluster.look(&random) }
    cluster.late = [:]
    for _ in 0..<PartBalance.heldLooks.lowerBound + 8 { cluster.look(&random) }
    for database in 1...3 { #expect(cluster.counts(of: Int64(database)) == [2, 2]) }
    let changes = cluster.changes
    for _ in 0..<100 { cluster.look(&random) }
    #expect(cluster.changes == changes)
  }

  @Test("nothing changes hands for a server that is gone for a moment and comes again")
  func restart() {
    var random = SeededGenerator(seed: 2)
    var cluster = Cluster(databases: 1, parts: 8)
    for number in 1...4 { cluster.add(number) }
    for _ in 0..<8 { cluster.look(&random) }
    let before = cluster.holders
    cluster.remove(4)
    cluster.add(5)
    cluster.look(&random)
    for (part, holder) in before where holder.rawValue != 4 {
      #expect(cluster.holders[part] == holder)
    }
    #expect(cluster.holders.count == 8)
  }

  @Test("what can't be shared evenly is spread over the servers by database")
  func shares() {
    for servers in 1...7 {
      for parts in 1...20 {
        for database in 1...Int64(servers) {
          let shares = (0..<servers).map {
            PartBalance.share(
              ofServer: $0, among: servers, of: parts, in: DatabaseID(rawValue: database))
          }
          #expect(shares.reduce(0, +) == parts)
          #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
        }
      }
    }
    let largest = (1...3).map { database in
      (0..<3).first {
        PartBalance.share(
          ofServer: $0, among: 3, of: 4, in: DatabaseID(rawValue: Int64(database))) == 2
      }
    }
    #expect(Set(largest).count == 3)
  }
}
