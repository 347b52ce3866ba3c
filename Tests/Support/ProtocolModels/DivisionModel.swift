/// A database that is dispatched in parts, as a state machine with every order in which its steps can
/// happen: how the parts go through its changes, how it is divided otherwise, and what lost leases and
/// crashes do to that.
///
/// There are two subscribers. In one part are both; of two parts each has one. Each transaction on the
/// database's row is one step.
package struct DivisionModel: ProtocolModel {
  /// A rule that is removed from the protocol.
  package enum Flaw: CaseIterable {
    /// Changes are dropped when the first part is through with them.
    case dropsWithFirstPart
    /// The next parts begin where the first of the former ones is.
    case dividesWithFirstPart
    /// The former parts go on with changes that are the next ones' to dispatch.
    case ignoresLastChange
    /// A transaction of the dispatcher does not look how the database is divided.
    case ignoresDivision
    /// There is no wake-up for changes that other parts dispatch.
    case leavesNoWord
  }

  package struct Limits: Sendable {
    var saves: Int
    var divisions: Int
    var losses: Int
    var crashes: Int

    package init(saves: Int = 3, divisions: Int = 2, losses: Int = 1, crashes: Int = 1) {
      self.saves = saves
      self.divisions = divisions
      self.losses = losses
      self.crashes = crashes
    }
  }

  struct Part: Hashable {
    var number: Int
    var count: Int

    var subscribers: [Int] { count == 1 ? [0, 1] : [number] }
  }

  struct Lease: Hashable {
    var holder: Int?
    var hasPendingWakeUp = true
    /// The last change that the part is through with.
    var position: Int
  }

  struct Lane: Hashable {
    var waiting: [Int] = []
    var isBehind = false
    var batch: [Int]?
  }

  var leases = [Lease(holder: nil, hasPendingWakeUp: true, position: 0)]
  /// The last change that the parts there are dispatch, and how many come after them.
  var lastChange: Int?
  var nextCount = 1
  var changes = 0
  /// Changes up to this one are not kept.
  var dropped = 0
  var logs: [[Int]] = [[], []]
  /// The work of each server.
  var lanes: [[Part: Lane]] = [[:], [:]]
  var divisions = 0
  var losses = 0
  var crashes = 0

  init(limits: Limits) {}

  /// Goes through every state that can be reached.
  ///
  /// - Parameter flaw: a rule that the protocol is to lack.
  package static func explore(_ limits: Limits, flaw: Flaw? = nil) -> ProtocolVerdict {
    verdict(on: limits, flaw: flaw)
  }

  // MARK: What is right

  /// Somebody was notified twice, out of order, or not of a change of which it is known that all were.
  var isLogWrong: Bool {
    logs.contains { $0 != Array($0.indices.map { $0 + 1 }) || $0.count < dropped }
  }

  var hasWaitingChanges: Bool { logs.contains { $0.count < changes } || lastChange != nil }

  // MARK: Steps

  /// Returns the states that can follow without an event from outside.
  func steps(flaw: Flaw? = nil) -> [DivisionModel] {
    var next: [DivisionModel] = []
    func add(_ change: (inout DivisionModel) -> Void) {
      var state = self
      change(&state)
      if state != self { next.append(state) }
    }
    for server in lanes.indices {
      for (number, lease) in leases.enumerated() {
        let part = Part(number: number, count: leases.count)
        if lease.holder == nil { add { $0.take(part, for: server) } }
        if lease.holder == server, lease.hasPendingWakeUp { add { $0.hearWord(of: part, server) } }
      }
      for (part, lane) in lanes[server] {
        if let batch = lane.batch {
          add { $0.complete(batch, of: part, by: server, flaw) }
        } else if lane.isBehind {
          add { $0.readOutbox(for: part, by: server, flaw) }
        } else if !lane.waiting.isEmpty {
          add { state in
            state.lanes[server][part]?.batch = lane.waiting
            state.lanes[server][part]?.waiting = []
          }
        } else {
          // A lane with nothing to do is closed.
          add { $0.lanes[server][part] = nil }
        }
      }
    }
    return next
  }

  /// Returns the states that clients, people, time and power can lead to.
  func events(limits: Limits, flaw: Flaw? = nil) -> [DivisionModel] {
    var next: [DivisionModel] = []
    func add(_ change: (inout DivisionModel) -> Void) {
      var state = self
      change(&state)
      if state != self { next.append(state) }
    }
    for server in lanes.indices {
      if changes < limits.saves { add { $0.save(at: server, flaw) } }
      if crashes < limits.crashes {
        add { state in
          state.crashes += 1
          state.lanes[server] = [:]
          for number in state.leases.indices where state.leases[number].holder == server {
            state.leases[number].holder = nil
          }
        }
      }
    }
    if losses < limits.losses {
      // The holder was taken for gone, and does not know.
      for number in leases.indices where leases[number].holder != nil {
        add { state in
          state.losses += 1
          state.leases[number].holder = nil
        }
      }
    }
    if divisions < limits.divisions {
      for count in 1...2 { add { $0.divideLater(into: count) } }
    }
    return next
  }

  private mutating func save(at server: Int, _ flaw: Flaw?) {
    changes += 1
    // Those that come after the parts there are look for the change by themselves.
    if lastChange != nil { return }
    for number in leases.indices {
      let part = Part(number: number, count: leases.count)
      if leases[number].holder != server {
        if flaw != .leavesNoWord { leases[number].hasPendingWakeUp = true }
      } else if lanes[server][part]?.isBehind != true {
        lanes[server][part, default: Lane()].waiting.append(changes)
      }
    }
  }

  private mutating func take(_ part: Part, for server: Int) {
    leases[part.number].holder = server
    hearWord(of: part, server)
  }

  private mutating func hearWord(of part: Part, _ server: Int) {
    leases[part.number].hasPendingWakeUp = false
    fallBehind(part, server)
  }

  private mutating func fallBehind(_ part: Part, _ server: Int) {
    lanes[server][part, default: Lane()].isBehind = true
    lanes[server][part]?.waiting = []
    lanes[server][part]?.batch = nil
  }

  private mutating func readOutbox(for part: Part, by server: Int, _ flaw: Flaw?) {
    lanes[server][part]?.isBehind = false
    let position = part.count == leases.count ? leases[part.number].position : dropped
    let first = max(position, dropped) + 1
    let last = flaw == .ignoresLastChange ? changes : min(changes, lastChange ?? changes)
    if first <= last { lanes[server][part]?.batch = Array(first...last) }
  }

  private mutating func complete(
    _ batch: [Int], of part: Part, by server: Int, _ flaw: Flaw?
  ) {
    let isPart = part.count == leases.count || (flaw == .ignoresDivision && part.number == 0)
    guard isPart, leases[part.number].holder == server else {
      lanes[server][part] = nil
      return
    }
    let position = leases[part.number].position
    let new = batch.filter { $0 > position }
    lanes[server][part]?.batch = nil
    guard let last = new.last else { return }
    if let lastChange, last > lastChange, flaw != .ignoresLastChange {
      return fallBehind(part, server)
    }
    let waiting = (max(position, dropped) + 1..<last + 1).count
    guard waiting == new.count else { return fallBehind(part, server) }
    for subscriber in part.subscribers { logs[subscriber] += new }
    leases[part.number].position = last
    let positions = leases.map(\.position)
    let common = positions.min() ?? 0
    dropped = flaw == .dropsWithFirstPart ? positions.max() ?? 0 : common
    let end = flaw == .dividesWithFirstPart ? last : common
    if let lastChange, end >= lastChange { divide(at: end) }
  }

  private mutating func divideLater(into count: Int) {
    if count == leases.count, lastChange == nil { return }
    divisions += 1
    nextCount = count
    if lastChange != nil { return }
    let common = leases.map(\.position).min() ?? 0
    if common == changes {
      divide(at: common)
    } else {
      lastChange = changes
    }
  }

  private mutating func divide(at position: Int) {
    lastChange = nil
    leases = Array(
      repeating: Lease(holder: nil, hasPendingWakeUp: true, position: position), count: nextCount)
  }
}
