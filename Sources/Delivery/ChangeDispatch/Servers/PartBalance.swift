import StoreModel

/// The rule by which a server leases and releases parts of divided databases, so that each server
/// has an equal share. It is a value.
///
/// A *look* is one call of ``plan(_:for:among:)``. To *take* a part means to lease it.
///
/// There is no coordinator: all servers read the same leases and compute the shares by the same
/// rule. A server may fail to take a part of its share. After ``looksBeforeTaking`` looks, any
/// server takes that part.
///
/// A server that has taken a part beyond its share releases the part after some looks
/// (``heldLooks``). The server to whose share the part belongs may only have been slow. If no
/// server takes the released part, this server takes it again and keeps it for twice as many looks.
struct PartBalance {
  /// The actions after a look at the leases.
  struct Plan: Equatable {
    var taken: [FreePart] = []
    /// The parts to release, so that other servers can take them.
    var released: [DatabasePart] = []
  }

  /// The number of looks after which a server takes a free part of another server's share.
  static let looksBeforeTaking = 3
  /// The number of looks with the same servers before a server releases parts for balance. The
  /// number gives other servers time to restart: that takes less time than to read the
  /// subscriptions of a part.
  static let looksBeforeRelease = 5

  /// The number of looks for which a server keeps a part beyond its share. The lower bound is the
  /// number for the first time. The upper bound is the greatest number: about an hour, with one
  /// look a second. The number grows, because a released part is not dispatched until a server
  /// takes it.
  static let heldLooks = 20...4_000

  private var servers: Set<ServerID> = []
  /// The number of looks since the set of servers last changed.
  private var looks = 0
  /// The number of consecutive looks at which no server had the lease of the part.
  private var freeLooks: [DatabasePart: Int] = [:]
  /// The parts taken beyond this server's share. The value is the number of the look (``looks``) at
  /// which the part may be released.
  private var kept: [DatabasePart: Int] = [:]
  /// The number of looks for which each part was last kept.
  private var lastHeldLooks: [DatabasePart: Int] = [:]

  /// Returns the actions for the present leases.
  ///
  /// - Parameters:
  ///   - leases: The leases of all divided databases.
  ///   - server: This server.
  ///   - others: The IDs of the other registered servers.
  mutating func plan(
    _ leases: [PartLease], for server: ServerID, among others: Set<ServerID>
  ) -> Plan {
    let servers = others.union([server])
    if servers != self.servers {
      self.servers = servers
      looks = 0
      kept = [:]
      lastHeldLooks = [:]
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
      // Servers with smaller IDs take the first free parts.
      firstFree += max(0, target - count)
    }
    if share > own.count {
      let places = firstFree..<max(firstFree, min(free.count, firstFree + share - own.count))
      plan.taken += free[places.clamped(to: 0..<free.count)].map(\.free)
    } else if looks > Self.looksBeforeRelease {
      let movable = own.filter { kept[$0] == nil }
      plan.released += movable.suffix(max(0, movable.count - share))
    }
    for lease in free where (freeLooks[lease.part] ?? 0) > Self.looksBeforeTaking {
      guard !plan.taken.contains(lease.free) else { continue }
      plan.taken.append(lease.free)
      let heldLooks = min(
        lastHeldLooks[lease.part].map { $0 * 2 } ?? Self.heldLooks.lowerBound,
        Self.heldLooks.upperBound
      )
      lastHeldLooks[lease.part] = heldLooks
      kept[lease.part] = looks + heldLooks
    }
  }

  /// Returns the number of a database's parts that a server should have. If the division has a
  /// remainder, the server that gets one more part depends on the ID of the database.
  ///
  /// - Parameters:
  ///   - place: The index of the server in the list of all servers, sorted by ID.
  ///   - servers: The number of servers.
  ///   - parts: The number of parts of the database.
  static func share(
    ofServer place: Int, among servers: Int, of parts: Int, in database: DatabaseID
  ) -> Int {
    let first = Int(database.rawValue % Int64(servers))
    let rank = (place + servers - first) % servers
    return parts / servers + (rank < parts % servers ? 1 : 0)
  }
}
