import Foundation

/// Decides which requests are worked on, so that who asks for much does not hold up who asks for little: a
/// value.
///
/// There are about as many threads as processors, and none of them leaves a request before it is done. So
/// requests that are expected to take long are worked on by half of the threads at most, and their callers
/// take turns; and of each caller's short ones a few are in hand, which take little time together. Nothing
/// of this applies to a caller who is the only one.
///
/// What a request takes is expected by its size, and by what the caller's last ones of the same operation
/// took beyond that: the most of late, halved every half a minute, so that who knows this gains little by
/// asking for what is cheap between. Of an operation that the caller has not asked for lately one is tried
/// first. (As schedulers of processes do, which favour those that were found to need little: F. J. Corbató
/// and others, 1962.) Who has asked for little of late does not ask for long requests, whatever one of them
/// took: a first save that made a zone must not hold up the next ones.
///
/// - Complexity: O(1) for each call, amortized; O(n) in what waits of a caller when one of its requests is found
///   to take longer than any before.
package struct FairQueue: Sendable {
  typealias Caller = RequestThrottle.Key

  package struct Limits: Sendable {
    /// Seconds from which on a request is a long one, if the caller's of its operation take as many together
    /// of late as `little` says.
    var long = 0.02
    var little = 1.0
    /// Long requests that are worked on at a time.
    var longAtOnce = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    /// Short requests of a caller that are worked on at a time, and seconds that they may take together
    /// where they are more than one.
    var shortOfCaller = 8
    var shortSecondsOfCaller = 0.02
    /// Long requests that may wait, of one caller and in all.
    var waitingOfCaller = 16
    var waiting = 32
    /// Seconds that the short requests of a caller which wait may take together, and at least each. It is less
    /// than ``HTTPServer/Configuration/patience``, after which a request that waits is one that the server
    /// does not keep up with, for whatever reason, so that all are refused.
    var waitingSecondsOfCaller = 0.4
    var leastWaitingSeconds = 0.0001
    /// Seconds after which a caller is the only one.
    var alone = 10.0
    /// Seconds after which half is left of what requests took.
    var halfLife = 30.0
    /// Kinds of requests, by caller and operation, of which it is known what they take.
    var memory = 20_000
  }

  /// A request that is worked on.
  struct Ticket: Sendable, Hashable {
    fileprivate var kind: Kind
    /// Seconds that one of its size takes, and that it is expected to take.
    fileprivate var least: Double
    fileprivate var seconds: Double
    fileprivate(set) var isLong: Bool
  }

  enum Verdict: Sendable, Hashable {
    case begin(Ticket)
    case wait
    case refuse
  }

  fileprivate struct Kind: Sendable, Hashable {
    var caller: Caller
    var operation: String
  }

  private struct Waiting {
    var number: Int
    var kind: Kind
    /// Seconds that one of its size takes, and that it was expected to take when it came.
    var least: Double
    var expected: Double
  }

  /// What a caller has in hand, and what waits for that; one with neither is forgotten.
  private struct Lane {
    var inHand = 0
    /// Of the short ones in hand.
    var shortInHand = 0
    var shortSeconds = 0.0
    var waitingShort: ArraySlice<Waiting> = []
    var waitingSeconds = 0.0
    var waitingLong: ArraySlice<Waiting> = []

    var waiting: Int { waitingShort.count + waitingLong.count }

    /// A short request waits no more.
    mutating func passed(_ item: Waiting) {
      waitingSeconds = waitingShort.isEmpty ? 0 : waitingSeconds - item.expected
    }
  }

  /// What requests of a kind took, as of a time.
  private struct Memory {
    /// The most that one took beyond what its size says, and what all took, each less as it is longer ago.
    var most = 0.0
    var together = 0.0
    var time: Double
  }

  let limits: Limits
  private var lanes: [Caller: Lane] = [:]
  /// Callers of which a long request waits, each once, in turn.
  private var turns: ArraySlice<Caller> = []
  private var longInHand = 0
  private(set) var waiting = 0
  private var waitingLong = 0
  private var memory: [Kind: Memory] = [:]
  private var swept = -Double.infinity
  private var latest: Caller?
  /// When a caller came who was not the one before.
  private var changed = -Double.infinity

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Takes a request.
  ///
  /// - Parameters:
  ///   - number: what ``leave(_:after:at:)`` calls it if it waits.
  ///   - least: seconds that one of its size takes.
  ///   - now: seconds of a clock that nobody sets.
  mutating func enter(
    _ number: Int, of caller: Caller, _ operation: String, least: Double, at now: Double
  ) -> Verdict {
    if latest != caller {
      if latest != nil { changed = now }
      latest = caller
    }
    let kind = Kind(caller: caller, operation: operation)
    let ticket = self.ticket(for: kind, least, at: now)
    var lane = lanes[caller] ?? Lane()
    if now - changed > limits.alone || mayBegin(ticket, in: lane) {
      begin(ticket, in: &lane)
      lanes[caller] = lane
      return .begin(ticket)
    }
    let item = Waiting(
      number: number, kind: kind, least: least, expected: expectation(of: kind, least, at: now))
    if ticket.isLong {
      guard mayWait(in: lane) else { return .refuse }
      addLong(item, to: &lane)
    } else {
      guard lane.waitingSeconds + item.expected <= limits.waitingSecondsOfCaller else {
        return .refuse
      }
      lane.waitingShort.append(item)
      lane.waitingSeconds += item.expected
    }
    waiting += 1
    lanes[caller] = lane
    return .wait
  }

  /// A request is done. Answers what becomes of some that waited: they begin now, or are refused, for they
  /// were found to take longer, and too many of that kind wait.
  ///
  /// - Parameter seconds: what it took beyond what one of its size takes.
  mutating func leave(
    _ ticket: Ticket, after seconds: Double, at now: Double
  ) -> [(number: Int, verdict: Verdict)] {
    let isLongest = remember(seconds, of: ticket, at: now)
    let caller = ticket.kind.caller
    guard var lane = lanes.removeValue(forKey: caller) else { return [] }
    lane.inHand -= 1
    var decided: [(Int, Verdict)] = []
    if ticket.isLong {
      longInHand -= 1
    } else {
      lane.shortInHand -= 1
      // Nothing is left of what rounding adds up to.
      lane.shortSeconds = lane.shortInHand == 0 ? 0 : lane.shortSeconds - ticket.seconds
      if isLongest { decided += reconsider(&lane, at: now).map { ($0, .refuse) } }
      while let next = lane.waitingShort.first {
        let ticket = self.ticket(for: next.kind, next.least, at: now)
        if ticket.isLong {
          if mayWait(in: lane) {
            addLong(next, to: &lane)
          } else {
            decided.append((next.number, .refuse))
          }
        } else if mayBegin(ticket, in: lane) {
          begin(ticket, in: &lane)
          decided.append((next.number, .begin(ticket)))
        } else {
          break
        }
        lane.waitingShort.removeFirst()
        lane.passed(next)
      }
    }
    keep(lane, of: caller)
    while longInHand < limits.longAtOnce, let caller = turns.popFirst() {
      guard var lane = lanes[caller], let next = lane.waitingLong.popFirst() else { continue }
      waitingLong -= 1
      var ticket = self.ticket(for: next.kind, next.least, at: now)
      ticket.isLong = true
      begin(ticket, in: &lane)
      if !lane.waitingLong.isEmpty { turns.append(caller) }
      lanes[caller] = lane
      decided.append((next.number, .begin(ticket)))
    }
    waiting -= decided.count
    return decided
  }

  /// Expects of a caller's short requests that wait what is known by now.
  ///
  /// - Returns: those of which too many wait then.
  private mutating func reconsider(_ lane: inout Lane, at now: Double) -> [Int] {
    let waiting = lane.waitingShort
    lane.waitingShort = []
    lane.waitingSeconds = 0
    var refused: [Int] = []
    for var item in waiting {
      item.expected = expectation(of: item.kind, item.least, at: now)
      if ticket(for: item.kind, item.least, at: now).isLong {
        if mayWait(in: lane) {
          addLong(item, to: &lane)
        } else {
          refused.append(item.number)
        }
      } else if lane.waitingShort.isEmpty
        || lane.waitingSeconds + item.expected <= limits.waitingSecondsOfCaller
      {
        lane.waitingShort.append(item)
        lane.waitingSeconds += item.expected
      } else {
        refused.append(item.number)
      }
    }
    return refused
  }

  /// Takes a request out that waits.
  mutating func withdraw(_ number: Int, of caller: Caller) {
    guard var lane = lanes.removeValue(forKey: caller) else { return }
    if let place = lane.waitingShort.firstIndex(where: { $0.number == number }) {
      lane.passed(lane.waitingShort.remove(at: place))
      waiting -= 1
    } else if let place = lane.waitingLong.firstIndex(where: { $0.number == number }) {
      lane.waitingLong.remove(at: place)
      if lane.waitingLong.isEmpty { turns.removeAll { $0 == caller } }
      waitingLong -= 1
      waiting -= 1
    }
    keep(lane, of: caller)
  }

  private func ticket(for kind: Kind, _ least: Double, at now: Double) -> Ticket {
    let known = known(kind, at: now)
    let seconds = least + (known?.most ?? 0)
    let isLong = seconds >= limits.long && seconds + (known?.together ?? 0) >= limits.little
    // Until it is known what it takes, it takes all that the caller may have in hand.
    return Ticket(
      kind: kind, least: least,
      seconds: known == nil ? max(seconds, limits.shortSecondsOfCaller) : seconds, isLong: isLong)
  }

  /// Whether a long request may wait: always one of a caller, so that nobody fills the places of others.
  private func mayWait(in lane: Lane) -> Bool {
    lane.waitingLong.isEmpty
      || waitingLong < limits.waiting && lane.waitingLong.count < limits.waitingOfCaller
  }

  private mutating func addLong(_ item: Waiting, to lane: inout Lane) {
    if lane.waitingLong.isEmpty { turns.append(item.kind.caller) }
    lane.waitingLong.append(item)
    waitingLong += 1
  }

  private func mayBegin(_ ticket: Ticket, in lane: Lane) -> Bool {
    if ticket.isLong { return longInHand < limits.longAtOnce }
    return lane.shortInHand == 0
      || lane.shortInHand < limits.shortOfCaller
        && lane.shortSeconds + ticket.seconds <= limits.shortSecondsOfCaller
  }

  private mutating func begin(_ ticket: Ticket, in lane: inout Lane) {
    lane.inHand += 1
    if ticket.isLong {
      longInHand += 1
    } else {
      lane.shortInHand += 1
      lane.shortSeconds += ticket.seconds
    }
  }

  private mutating func keep(_ lane: Lane, of caller: Caller) {
    if lane.inHand > 0 || lane.waiting > 0 { lanes[caller] = lane }
  }

  private func known(_ kind: Kind, at now: Double) -> Memory? {
    memory[kind].map { memory in
      let left = exp2((memory.time - now) / limits.halfLife)
      return Memory(most: memory.most * left, together: memory.together * left, time: now)
    }
  }

  /// The seconds that a waiting request counts for.
  private func expectation(of kind: Kind, _ least: Double, at now: Double) -> Double {
    max(least + (known(kind, at: now)?.most ?? 0), limits.leastWaitingSeconds)
  }

  /// - Returns: whether none of its kind took longer of late.
  private mutating func remember(_ seconds: Double, of ticket: Ticket, at now: Double) -> Bool {
    let known = known(ticket.kind, at: now)
    if known == nil, memory.count >= limits.memory {
      // Once a second at most.
      guard now - swept >= 1 else { return false }
      swept = now
      memory = memory.filter { now - $0.value.time < 2 * limits.halfLife }
      guard memory.count < limits.memory else { return false }
    }
    var new = known ?? Memory(time: now)
    new.most = max(seconds, new.most)
    new.together += ticket.least + seconds
    memory[ticket.kind] = new
    return seconds > known?.most ?? 0
  }
}
