/// The decision which connections the server accepts, so that one client with many connections does
/// not keep others out. It is a value without I/O.
///
/// 1. A host and a network have a maximum of connections each.
/// 2. When all ordinary places are taken, the server closes idle connections. Those that have been idle
///   longest go first.
/// 3. If none is idle, the reserve remains, for requests that must get through
///   (``Limits/reserved``). No host gets more than a quarter of the reserve, but each may have one
///   of its places.
///
/// Rule 1 and the quarter of rule 3 do not apply to proxies and socket files
/// (``Ticket/isCapped``).
struct ConnectionAdmission: Sendable {
  /// The numbers of places.
  struct Limits: Sendable, Hashable {
    /// All places, including the reserve.
    var all: Int
    var reserved: Int
    var byHost: Int
    var byNetwork: Int
    var ordinary: Int { all - reserved }
    var reservedByHost: Int { max(1, reserved / 4) }
    /// The number of connections that are closed at once. The search for idle connections costs
    /// O(*n*) in all connections, so one search frees several places.
    var evictedAtOnce: Int { max(1, all / 128) }
  }

  /// The place of a connection.
  struct Ticket: Sendable, Hashable {
    var peer: PeerAddress
    /// Whether the connection counts for its host and network. Connections of a proxy or a socket
    /// file do not.
    var isCapped: Bool
    var isReserved: Bool
    /// Whether the server shut the connection down to free its place, so its place counts as free.
    var isLeaving = false
  }

  /// The two kinds of places.
  enum Places: Sendable, Hashable {
    case ordinary
    case reserved
  }

  /// The result of a new connection's check.
  enum Verdict: Equatable {
    case admitted(Ticket)
    /// The caller must close idle connections with places of this kind, then ask again.
    case makeRoom(Places)
    case refused(HTTPRefusal.Reason)
  }

  let limits: Limits
  private var ordinary = 0
  private var reserved = 0
  private var byHost = Amounts<PeerAddress.Prefix>()
  private var byNetwork = Amounts<PeerAddress.Prefix>()
  private var reservedByHost = Amounts<PeerAddress.Prefix>()
  /// The number of places that count as free while their descriptors are still open.
  private(set) var leaving = 0

  /// The number of descriptors that may be open beyond the places.
  private static let leavingLimit = 128

  init(_ limits: Limits) { self.limits = limits }

  /// Gives a new connection a place, if it can have one.
  ///
  /// - Parameter cleared: the kinds of places whose idle connections the caller closed for this
  ///   one.
  mutating func enter(
    _ peer: PeerAddress, isCapped: Bool, cleared: Set<Places> = []
  ) -> Verdict {
    if isCapped {
      if byHost[peer.host] >= limits.byHost {
        return .refused(.tooManyConnectionsOfAddress)
      }
      if byNetwork[peer.network] >= limits.byNetwork {
        return .refused(.tooManyConnectionsOfNetwork)
      }
    }
    var ticket = Ticket(peer: peer, isCapped: isCapped, isReserved: false)
    if ordinary >= limits.ordinary {
      let mayMakeRoom = leaving + limits.evictedAtOnce <= Self.leavingLimit
      if mayMakeRoom, !cleared.contains(.ordinary) { return .makeRoom(.ordinary) }
      guard
        limits.reserved > 0,
        !isCapped || reservedByHost[peer.host] < limits.reservedByHost
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

  /// Moves a connection from the reserve to a free ordinary place. Returns whether it has one now.
  mutating func promote(_ ticket: inout Ticket) -> Bool {
    guard ticket.isReserved, ordinary < limits.ordinary else { return !ticket.isReserved }
    count(ticket, -1)
    ticket.isReserved = false
    count(ticket, 1)
    return true
  }

  /// Records that the server shut a connection down. Its place is free from now on.
  mutating func evict(_ ticket: inout Ticket) {
    guard !ticket.isLeaving else { return }
    count(ticket, -1)
    ticket.isLeaving = true
    leaving += 1
  }

  mutating func leave(_ ticket: Ticket) {
    if ticket.isLeaving { leaving -= 1 } else { count(ticket, -1) }
  }

  private mutating func count(_ ticket: Ticket, _ change: Int) {
    if ticket.isReserved { reserved += change } else { ordinary += change }
    guard ticket.isCapped else { return }
    byHost.add(change, to: ticket.peer.host)
    byNetwork.add(change, to: ticket.peer.network)
    if ticket.isReserved { reservedByHost.add(change, to: ticket.peer.host) }
  }

  /// The number of taken places, for tests.
  var placesTaken: Int { ordinary + reserved }
  /// The number of hosts and networks with a count, for tests.
  var remembered: Int { byHost.keyCount + byNetwork.keyCount + reservedByHost.keyCount }
}
