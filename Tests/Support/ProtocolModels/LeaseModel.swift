/// The lease protocol of servers that share a store, as a state machine with every order in which its
/// steps can happen.
///
/// One database, some servers. A server that is paused is one whose steps do not come; one whose time is
/// over may be struck off at any moment, whether it works or not. A save and a dispatch are two steps each:
/// they read without a lock, and their commit finds whether a number of the database was drawn since. If
/// so, the commit reads again, under the lock of the database's row. Other transactions are one step.
package struct LeaseModel: ProtocolModel {
  /// A rule that is removed from the protocol.
  package enum Flaw: CaseIterable {
    /// A server that takes over draws no number.
    case takesWithoutNumber
    /// A dispatch draws no number.
    case dispatchesWithoutNumber
    /// Transactions of the dispatcher do not look how far the changes are dispatched.
    case completesBlindly
    /// Word that was left is forgotten after the outbox was looked into, and not before.
    case forgetsWordLate
    /// A wake-up that was there when the leases were read is not set again.
    case trustsWakeUpThatWasRead
    /// A lease is ended though changes wait.
    case endsLeaseEarly
    /// The end of a lease draws no number.
    case endsLeaseWithoutNumber
    /// There is no wake-up for changes that another server dispatches.
    case leavesNoWord
  }

  package struct Limits: Sendable {
    var servers: Int
    var saves: Int
    var strikes: Int
    var crashes: Int

    package init(servers: Int = 2, saves: Int = 3, strikes: Int = 2, crashes: Int = 1) {
      self.servers = servers
      self.saves = saves
      self.strikes = strikes
      self.crashes = crashes
    }
  }

  /// How far a server is with the database's changes.
  enum Lane: Hashable {
    case idle
    /// About to write what these led to.
    case completing([Int])
    /// Another server dispatches them, it seems.
    case doubting
  }

  struct Server: Hashable {
    /// As which it is registered, as it believes.
    var id: Int?
    /// The changes that it has committed and not handed over yet.
    var committed: [Int] = []
    /// The changes that were handed over.
    var waiting: [Int] = []
    var isBehind = false
    var lane = Lane.idle
    /// It has asked for word, and is about to look.
    var wordHeard = false
    /// Its transaction under way. It has one at a time.
    var transaction: Transaction?
  }

  /// A save, or a dispatch, between its reading and its commit.
  struct Transaction: Hashable {
    var isSave: Bool
    /// Nil if a number was drawn since.
    var read: Read?
  }

  struct Read: Hashable {
    var lease: Lease?
    var through: Int
  }

  struct Lease: Hashable {
    var holder: Int
    var hasPendingWakeUp = false
  }

  var servers: [Server]
  var registered: Set<Int> = []
  var lease: Lease?
  var changes = 0
  /// Up to here the changes are dispatched.
  var through = 0
  var log: [Int] = []
  var strikes = 0
  var crashes = 0

  init(limits: Limits) {
    servers = Array(repeating: Server(), count: limits.servers)
  }

  /// Goes through every state that can be reached.
  ///
  /// - Parameter flaw: a rule that the protocol is to lack.
  package static func explore(_ limits: Limits, flaw: Flaw? = nil) -> ProtocolVerdict {
    verdict(on: limits, flaw: flaw)
  }

  // MARK: What is right

  /// A change is in the log twice, or before an earlier one.
  var isLogWrong: Bool { log != Array(log.indices.map { $0 + 1 }) }

  var hasWaitingChanges: Bool { changes > through }

  // MARK: Steps

  /// Returns the states that can follow without an event from outside.
  func steps(flaw: Flaw? = nil) -> [LeaseModel] {
    var next: [LeaseModel] = []
    func add(_ change: (inout LeaseModel) -> Void) {
      var state = self
      change(&state)
      state.renumber()
      if state != self { next.append(state) }
    }
    for place in servers.indices {
      let server = servers[place]
      if server.id == nil, server.lane == .idle {
        add { $0.register(place) }
      }
      if let id = server.id, !registered.contains(id) {
        // It notices when it renews its registration.
        add { $0.servers[place].id = nil }
      }
      if let transaction = server.transaction {
        add { $0.commit(transaction, by: place, flaw) }
      }
      if !server.committed.isEmpty { add { $0.handOver(by: place) } }
      if let id = server.id {
        if let lease, !registered.contains(lease.holder) {
          add { state in
            state.lease = Lease(holder: id)
            state.fallBehind(place)
            if flaw != .takesWithoutNumber { state.drawNumber() }
          }
        }
        if lease?.holder == id, lease?.hasPendingWakeUp == true || server.wordHeard {
          add { $0.hearWord(place, flaw) }
        }
      }
      addWork(of: place, flaw, add)
    }
    // The time of those that are dead is over some time.
    for id in registered where !servers.contains(where: { $0.id == id }) {
      add { $0.registered.remove(id) }
    }
    return next
  }

  /// Returns the states that clients, time and power can lead to.
  func events(limits: Limits, flaw: Flaw? = nil) -> [LeaseModel] {
    var next: [LeaseModel] = []
    func add(_ change: (inout LeaseModel) -> Void) {
      var state = self
      change(&state)
      state.renumber()
      if state != self { next.append(state) }
    }
    for place in servers.indices {
      let saving = servers.count { $0.transaction?.isSave == true }
      if servers[place].transaction == nil, changes + saving < limits.saves {
        add { $0.servers[place].transaction = Transaction(isSave: true, read: $0.present) }
      }
      if crashes < limits.crashes { add { $0.crash(place) } }
      let server = servers[place]
      // Leases with nothing to do are ended some time. That this looks for changes once more is left out:
      // they must not have to wait for it.
      if let id = server.id, lease?.holder == id, server.isQuiet,
        !hasWaitingChanges || flaw == .endsLeaseEarly
      {
        add { state in
          state.lease = nil
          if flaw != .endsLeaseWithoutNumber { state.drawNumber() }
        }
      }
    }
    if strikes < limits.strikes {
      for id in registered {
        add { state in
          state.registered.remove(id)
          state.strikes += 1
        }
      }
    }
    return next
  }

  private mutating func register(_ place: Int) {
    let id = (registered.union(servers.compactMap(\.id)).max() ?? 0) + 1
    registered.insert(id)
    servers[place].id = id
  }

  /// Gives registrations new numbers in the order of the servers, for it does not matter what they are
  /// called: states that differ in nothing else are one. Those of nobody, which nobody will have again,
  /// are all 0.
  private mutating func renumber() {
    var numbers: [Int: Int] = [:]
    for id in servers.compactMap(\.id) + registered.sorted() where numbers[id] == nil {
      numbers[id] = numbers.count + 1
    }
    for place in servers.indices { servers[place].id = servers[place].id.map { numbers[$0] ?? 0 } }
    registered = Set(registered.map { numbers[$0] ?? 0 })
    if let holder = lease?.holder { lease?.holder = numbers[holder] ?? 0 }
    for place in servers.indices {
      if let holder = servers[place].transaction?.read?.lease?.holder {
        servers[place].transaction?.read?.lease?.holder = numbers[holder] ?? 0
      }
    }
  }

  private mutating func crash(_ place: Int) {
    crashes += 1
    servers[place] = Server()
  }

  /// The committed state that transactions read.
  private var present: Read { Read(lease: lease, through: through) }

  /// Transactions that have read before will find that the number has changed.
  private mutating func drawNumber() {
    for place in servers.indices { servers[place].transaction?.read = nil }
  }

  private mutating func commit(_ transaction: Transaction, by place: Int, _ flaw: Flaw?) {
    servers[place].transaction = nil
    let read = transaction.read ?? present
    guard transaction.isSave else {
      if case .completing(let batch) = servers[place].lane {
        complete(batch, by: place, having: read, flaw)
      }
      return
    }
    changes += 1
    let id = servers[place].id
    if let seen = read.lease {
      if seen.holder == id || id == nil {
        servers[place].committed.append(changes)
      }
      let isTrusted = seen.hasPendingWakeUp && flaw == .trustsWakeUpThatWasRead
      if seen.holder != id, !isTrusted, flaw != .leavesNoWord {
        lease?.hasPendingWakeUp = true
      }
    } else {
      lease = Lease(holder: id ?? 0)
      servers[place].committed.append(changes)
    }
    drawNumber()
  }

  private mutating func handOver(by place: Int) {
    let committed = servers[place].committed
    servers[place].committed = []
    if !servers[place].isBehind { servers[place].waiting += committed }
  }

  private mutating func fallBehind(_ place: Int) {
    servers[place].isBehind = true
    servers[place].waiting = []
  }

  private mutating func hearWord(_ place: Int, _ flaw: Flaw?) {
    guard flaw == .forgetsWordLate else {
      lease?.hasPendingWakeUp = false
      return fallBehind(place)
    }
    if servers[place].wordHeard, !servers[place].isBehind, servers[place].lane == .idle {
      lease?.hasPendingWakeUp = false
      servers[place].wordHeard = false
    } else if !servers[place].wordHeard {
      servers[place].wordHeard = true
      fallBehind(place)
    }
  }

  // MARK: The work of a lane

  private func addWork(
    of place: Int, _ flaw: Flaw?, _ add: ((inout LeaseModel) -> Void) -> Void
  ) {
    let server = servers[place]
    switch server.lane {
    case .idle where server.isBehind:
      add { state in
        state.servers[place].isBehind = false
        let waiting = Array(state.through + 1..<state.changes + 1)
        if !waiting.isEmpty { state.servers[place].lane = .completing(waiting) }
      }
    case .idle where !server.waiting.isEmpty:
      add { state in
        state.servers[place].lane = .completing(server.waiting)
        state.servers[place].waiting = []
      }
    case .idle: break
    case .completing:
      if server.transaction == nil {
        add { $0.servers[place].transaction = Transaction(isSave: false, read: $0.present) }
      }
    case .doubting:
      add { state in
        let isOurs = server.id != nil && state.lease?.holder == server.id
        if isOurs || !server.waiting.isEmpty || server.isBehind { state.fallBehind(place) }
        state.servers[place].lane = .idle
      }
    }
  }

  private mutating func complete(
    _ batch: [Int], by place: Int, having read: Read, _ flaw: Flaw?
  ) {
    if let id = servers[place].id, read.lease?.holder != id {
      servers[place].lane = .doubting
      servers[place].waiting = []
      servers[place].isBehind = false
      return
    }
    servers[place].lane = .idle
    let new = flaw == .completesBlindly ? batch : batch.filter { $0 > read.through }
    guard let first = new.first, let last = new.last else { return }
    if flaw != .completesBlindly {
      guard first == read.through + 1, new == Array(first...last) else { return fallBehind(place) }
    }
    log += new
    through = max(through, last)
    if flaw != .dispatchesWithoutNumber { drawNumber() }
  }
}

extension LeaseModel.Server {
  /// Whether there is nothing to do that the server knows of.
  var isQuiet: Bool {
    lane == .idle && waiting.isEmpty && committed.isEmpty && !isBehind
  }
}
