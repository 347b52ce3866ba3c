import StoreModel

/// Which parts of divided databases a server takes and gives up, as a value, so that each server has its
/// share of each.
///
/// Nobody decides for the others: the servers see the same leases and know by the same rule how many of a
/// database's parts are whose. What somebody should have taken and has not is taken by whoever is there,
/// who offers it again after a while: the other may only have been late. Each time that nobody wanted it,
/// the while doubles.
struct PartBalance {
  /// What a server does after a look at the leases.
  struct Plan: Equatable {
    /// What it tries to take.
    var taken: [FreePart] = []
    /// What it gives up for others.
    var released: [DatabasePart] = []
  }

  /// After so many looks a part is taken that another server has left alone.
  static let patience = 3
  /// So many looks at the same servers come before parts change hands for the balance alone: to read the
  /// subscriptions of one anew takes longer than a server that is started again.
  static let looksBeforeRelease = 5

  /// For so many looks a server has what it took beyond its share, the first time and at most: an hour or
  /// so, for a part that is offered is dispatched by nobody until it is taken.
  static let tenure = 20...4_000

  private var servers: Set<ServerID> = []
  private var looks = 0
  /// How often parts were seen that nobody dispatches.
  private var freeLooks: [DatabasePart: Int] = [:]
  /// What was taken beyond this server's share, and at which look it is offered again.
  private var kept: [DatabasePart: Int] = [:]
  /// For how many looks a part was last kept.
  private var tenures: [DatabasePart: Int] = [:]

  /// - Parameters:
  ///   - leases: of all divided databases.
  ///   - server: this one.
  ///   - others: that are registered.
  mutating func plan(
    _ leases: [PartLease], for server: ServerID, among others: Set<ServerID>
  ) -> Plan {
    let servers = others.union([server])
    if servers != self.servers {
      self.servers = servers
      looks = 0
      kept = [:]
      tenures = [:]
    }
    looks += 1
    var free: [DatabasePart: Int] = [:]
    for lease in leases where lease.holder == nil {
      free[lease.part] = (freeLooks[lease.part] ?? 0) + 1
    }
    freeLooks = free
    kept = kept.filter { $0.value > looks }
    var plan = Plan()
    for (database, leases) in Dictionary(grouping: leases, by: \.part.database) {
      add(leases, of: database, for: server, to: &plan)
    }
    return plan
  }

  private mutating func add(
    _ leases: [PartLease], of database: DatabaseID, for server: ServerID, to plan: inout Plan
  ) {
    let order = servers.sorted { $0.rawValue < $1.rawValue }
    let own = leases.filter { $0.holder == server }.map(\.part)
    let free = leases.filter { $0.holder == nil }
    var firstFree = 0
    var share = 0
    for (place, other) in order.enumerated() {
      let count = leases.count(where: { $0.holder == other })
      let target = Self.share(
        ofServer: place, among: order.count, of: leases.count, in: database)
      if other == server {
        share = target
        break
      }
      // Those before it take what is free first.
      firstFree += max(0, target - count)
    }
    if share > own.count {
      let places = firstFree..<max(firstFree, min(free.count, firstFree + share - own.count))
      plan.taken += free[places.clamped(to: 0..<free.count)].map(\.free)
    } else if looks > Self.looksBeforeRelease {
      let movable = own.filter { kept[$0] == nil }
      plan.released += movable.suffix(max(0, movable.count - share))
    }
    for lease in free where (freeLooks[lease.part] ?? 0) > Self.patience {
      guard !plan.taken.contains(lease.free) else { continue }
      plan.taken.append(lease.free)
      let tenure = min(
        tenures[lease.part].map { $0 * 2 } ?? Self.tenure.lowerBound, Self.tenure.upperBound)
      tenures[lease.part] = tenure
      kept[lease.part] = looks + tenure
    }
  }

  /// How many of a database's parts are a server's. What can't be shared evenly goes to other servers in
  /// other databases.
  static func share(
    ofServer place: Int, among servers: Int, of parts: Int, in database: DatabaseID
  ) -> Int {
    let first = Int(database.rawValue % Int64(servers))
    let rank = (place + servers - first) % servers
    return parts / servers + (rank < parts % servers ? 1 : 0)
  }
}
