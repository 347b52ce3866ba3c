/// Decides which connections are let in, so that whoever opens many keeps nobody else out.
///
/// - A host, and a network, has so many at most.
/// - When all places are taken, connections that are idle make room, those first that have been idle for
///   longest.
/// - Where none is idle, some places are left for requests that must get through (``Limits/reserved``), of
///   which no host has more than a quarter.
struct ConnectionAdmission: Sendable {
  struct Limits: Sendable, Hashable {
    /// Places in all, those of the reserve included.
    var all: Int
    var reserved: Int
    var byHost: Int
    var byNetwork: Int

    var ordinary: Int { all - reserved }
    var reservedByHost: Int { max(1, reserved / 4) }
    /// How many make room at once: to look for the idle ones costs as much as there are connections.
    var evictedAtOnce: Int { max(1, all / 128) }
  }

  /// A connection's place.
  struct Ticket: Sendable, Hashable {
    var peer: PeerAddress
    /// Whether it counts for its host and its network: one of a proxy does not.
    var isCapped: Bool
    /// Whether it is of the reserve, for some requests only.
    var isReserved: Bool
    /// Whether it was told to go, so that its place counts as free.
    var isLeaving = false
  }

  enum Places: Sendable, Hashable {
    case ordinary
    case reserved
  }

  enum Verdict: Equatable {
    case admitted(Ticket)
    /// Idle connections of these places have to make room first; then to be asked again.
    case makeRoom(Places)
    case refused(HTTPRefusal.Reason)
  }

  let limits: Limits
  private var ordinary = 0
  private var reserved = 0
  private var byHost: [PeerAddress.Prefix: Int] = [:]
  private var byNetwork: [PeerAddress.Prefix: Int] = [:]
  private var reservedByHost: [PeerAddress.Prefix: Int] = [:]
  /// Places that are free as far as this knows, while their descriptors are still open.
  private(set) var leaving = 0

  /// Descriptors that may be open beyond the places.
  private static let leavingLimit = 128

  init(_ limits: Limits) { self.limits = limits }

  /// - Parameter cleared: the places whose idle connections were told to go for this one.
  mutating func enter(
    _ peer: PeerAddress, isCapped: Bool, cleared: Set<Places> = []
  ) -> Verdict {
    if isCapped {
      if byHost[peer.host, default: 0] >= limits.byHost {
        return .refused(.tooManyConnectionsOfAddress)
      }
      if byNetwork[peer.network, default: 0] >= limits.byNetwork {
        return .refused(.tooManyConnectionsOfNetwork)
      }
    }
    var ticket = Ticket(peer: peer, isCapped: isCapped, isReserved: false)
    if ordinary >= limits.ordinary {
      let mayMakeRoom = leaving + limits.evictedAtOnce <= Self.leavingLimit
      if mayMakeRoom, !cleared.contains(.ordinary) { return .makeRoom(.ordinary) }
      guard
        limits.reserved > 0,
        !isCapped || reservedByHost[peer.host, default: 0] < limits.reservedByHost
      else { return .refused(.tooManyConnections) }
      if reserved >= limits.reserved {
        guard mayMakeRoom, !cleared.contains(.reserved) else {
          return .refused(.tooManyConnections)
        }
        return .makeRoom(.reserved)
      }
      ticket.isReserved = true
    }
    count(ticket, 1)
    return .admitted(ticket)
  }

  /// A connection of the reserve gets an ordinary place, where there is one by now.
  mutating func promote(_ ticket: inout Ticket) -> Bool {
    guard ticket.isReserved, ordinary < limits.ordinary else { return !ticket.isReserved }
    count(ticket, -1)
    ticket.isReserved = false
    count(ticket, 1)
    return true
  }

  /// A connection was told to go; its place is free.
  mutating func evict(_ ticket: inout Ticket) {
    guard !ticket.isLeaving else { return }
    count(ticket, -1)
    ticket.isLeaving = true
    leaving += 1
  }

  /// A connection is closed.
  mutating func leave(_ ticket: Ticket) {
    if ticket.isLeaving { leaving -= 1 } else { count(ticket, -1) }
  }

  private mutating func count(_ ticket: Ticket, _ change: Int) {
    if ticket.isReserved { reserved += change } else { ordinary += change }
    guard ticket.isCapped else { return }
    Self.add(change, to: &byHost, ticket.peer.host)
    Self.add(change, to: &byNetwork, ticket.peer.network)
    if ticket.isReserved { Self.add(change, to: &reservedByHost, ticket.peer.host) }
  }

  private static func add(
    _ change: Int, to counts: inout [PeerAddress.Prefix: Int], _ key: PeerAddress.Prefix
  ) {
    let count = counts[key, default: 0] + change
    counts[key] = count == 0 ? nil : count
  }

  /// How many connections have a place, for tests.
  var placesTaken: Int { ordinary + reserved }
  /// How many hosts and networks are remembered, for tests.
  var remembered: Int { byHost.count + byNetwork.count + reservedByHost.count }
}
