import Foundation

/// The rules by which requests wait for their turns, so that a caller with much work does not delay
/// a caller with little. It is a value without I/O; ``RequestTurns`` executes its decisions.
///
/// The server has about as many threads as processors, and a thread finishes a request before it
/// takes another. Therefore:
///
/// - Requests that are expected to take long (long requests) use at most half of the threads, and
///   their callers take turns.
/// - Of each caller's other requests (short requests), only a few are in progress at once, and
///   these are expected to take little time together.
/// - These two rules do not apply while all requests come from one caller, that is, when the last
///   request of another caller is more than ``Limits/alone`` seconds old.
///
/// A caller and an operation together are a kind of request, for which the queue records times. The
/// expected time of a request has two parts. The first part is the time for its size. The second
/// part is the mean time that recent requests of its kind took beyond the time for their sizes. So
/// one request that the store held up does not make the queue expect the same of all others.
///
/// Whether a request is long depends on the largest of these times instead of the mean. This value
/// loses half of its size every 30 seconds. Cheap requests between expensive ones do not lower it.
///
/// If no time is recorded for a kind, the time of its first request is unknown. No other short
/// request of the caller then runs at the same time. Process schedulers work in the same way and
/// favour processes that have used little time (F. J. Corbató and others, 1962).
///
/// While the recent long requests of a kind took little time together, no request of the kind counts
/// as long. Otherwise one slow save, such as a save that creates a zone or that waits for the disk,
/// would delay the next saves.
///
/// A request is refused if too many wait. The limit for one caller's long requests holds only while
/// another caller's long requests wait: who waits only for its own requests delays nobody.
///
/// - Complexity: O(1) for each call, amortized. If a request takes longer than all recent ones of
///   its kind, O(*n*) for the *n* waiting requests of the caller. The removal of old recorded
///   times, at most once a second, is linear in their number.
package struct FairQueue: Sendable {
  typealias Caller = RequestThrottle.Key

  /// The limits of the queue.
  package struct Limits: Sendable {
    /// The seconds from which a request is long, if the recent long requests of its kind together
    /// take at least ``little`` seconds.
    var long = 0.02
    /// Seconds that the recent long requests of a kind must take together before one of them counts
    /// as long.
    var little = 1.0
    /// The most long requests in progress: half of the active processors, and at least one.
    var longAtOnce = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    /// The most short requests of one caller in progress.
    var shortOfCaller = 8
    /// The most seconds that the short requests of one caller in progress may be expected to take
    /// together, if there is more than one.
    var shortSecondsOfCaller = 0.02
    /// The most waiting long requests of one caller while those of another caller wait.
    var waitingOfCaller = 16
    /// The most waiting long requests of all callers. Beyond this limit, one long request of each
    /// caller may wait.
    var waiting = 32
    /// The most seconds that a caller's waiting short requests may be expected to take together.
    ///
    /// The value is less than `HTTPServer.Configuration.patience`, which is 0.5. If many requests
    /// wait longer than the patience, the HTTP server regards itself as overloaded and refuses
    /// further requests.
    var waitingSecondsOfCaller = 0.4
    /// The fewest expected seconds with which a waiting request counts.
    var leastWaitingSeconds = 0.0001
    /// Seconds without a request of another caller after which a caller counts as the only one.
    var alone = 10.0
    /// Seconds in which the recorded times of past requests fall to a half.
    var halfLife = 30.0
    /// The most kinds whose times are recorded.
    var memory = 20_000
  }

  /// The permission for a request to begin. When the request ends, its ticket is passed to
  /// ``leave(_:after:at:)``.
  struct Ticket: Sendable, Hashable {
    fileprivate var kind: Kind
    /// Seconds that a request of this size takes at least.
    fileprivate var least: Double
    /// Seconds that the request is expected to take.
    fileprivate var seconds: Double
    fileprivate(set) var isLong: Bool
  }

  /// The decision about a request.
  enum Verdict: Sendable, Hashable {
    case begin(Ticket)
    /// The request waits; a later ``leave(_:after:at:)`` decides about it.
    case wait
    case refuse
  }

  /// A kind of request: the caller and the name of the operation. The queue records times for each
  /// kind.
  fileprivate struct Kind: Sendable, Hashable {
    var caller: Caller
    var operation: String
  }

  /// A waiting request, as the queue stores it.
  private struct Waiting {
    /// The number that ``enter(_:of:_:least:at:)`` got for the request.
    var number: Int
    var kind: Kind
    /// Seconds that a request of this size takes at least.
    var least: Double
    /// Seconds that the request was expected to take at the last estimate, at least
    /// ``Limits/leastWaitingSeconds``.
    var expected: Double
  }

  /// The requests of a caller, in progress and waiting. A caller without a request has no lane.
  private struct Lane {
    /// Requests in progress.
    var inHand = 0
    /// Short requests in progress.
    var shortInHand = 0
    /// Seconds that the short requests in progress are expected to take together.
    var shortSeconds = 0.0
    /// Short requests that wait, in the order of their arrival.
    var waitingShort: ArraySlice<Waiting> = []
    /// Seconds that the waiting short requests are expected to take together.
    var waitingSeconds = 0.0
    /// Long requests that wait, in the order of their arrival.
    var waitingLong: ArraySlice<Waiting> = []

    var waiting: Int { waitingShort.count + waitingLong.count }

    /// Subtracts the expected time of a short request that was removed from ``waitingShort``.
    /// Without waiting requests the sum is 0, so that rounding errors do not add up.
    mutating func passed(_ item: Waiting) {
      waitingSeconds = waitingShort.isEmpty ? 0 : waitingSeconds - item.expected
    }
  }

  /// The recorded times of the requests of a kind, as of ``time``.
  private struct Memory {
    /// The largest time in seconds that one request took beyond the time for its size, reduced by
    /// age.
    var most = 0.0
    /// The time in seconds that the requests took beyond the times for their sizes, reduced by age.
    var sum = 0.0
    /// The number of the requests, reduced by age.
    var count = 0.0
    /// The time in seconds of the long requests together, reduced by age.
    var long = 0.0
    /// The reading of the monotonic clock, in seconds, to which the values refer.
    var time: Double

    /// The mean time in seconds that a request took beyond the time for its size.
    var mean: Double { count > 0 ? sum / count : 0 }
  }

  let limits: Limits
  private var lanes: [Caller: Lane] = [:]
  /// The callers with waiting long requests, each once, in the order of their turns.
  private var turns: ArraySlice<Caller> = []
  /// Long requests in progress.
  private var longInHand = 0
  /// Requests that wait, short and long.
  private(set) var waiting = 0
  /// Long requests that wait.
  private var waitingLong = 0
  /// The recorded times. Old ones are removed when there are ``Limits/memory`` entries.
  private var memory: [Kind: Memory] = [:]
  /// The time of the last removal of old recorded times.
  private var swept = -Double.infinity
  /// The caller of the last request.
  private var latest: Caller?
  /// The time of the last request that came from another caller than the request before it.
  private var changed = -Double.infinity

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Decides about a new request, and stores it if it must wait.
  ///
  /// - Parameters:
  ///   - number: a number for the request, unique among the waiting requests.
  ///   - least: seconds that a request of this size takes at least.
  ///   - now: seconds of a monotonic clock.
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

  /// Records the end of a request, and decides about waiting requests.
  ///
  /// Some waiting requests begin now. Others may be refused: if the ended request took longer than
  /// expected, too many requests of its kind may be waiting.
  ///
  /// - Parameters:
  ///   - seconds: the time that the request took beyond the time for its size.
  ///   - now: seconds of a monotonic clock.
  /// - Returns: the decisions about waiting requests. ``Verdict/wait`` is not among them.
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
      // Resets the sum, so that rounding errors do not add up.
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

  /// Updates the expected times of a caller's waiting short requests. Requests that now count as
  /// long wait as long requests from now on.
  ///
  /// - Returns: the numbers of the requests that exceed a limit with the new times, and are
  ///   refused.
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

  /// Removes a waiting request, because its task was cancelled. An unknown number changes nothing.
  ///
  /// - Complexity: O(*n* + *m*) for *n* waiting requests of the caller and *m* callers with waiting
  ///   long requests.
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

  /// Returns the ticket of a request, with the time that the request is expected to take.
  private func ticket(for kind: Kind, _ least: Double, at now: Double) -> Ticket {
    let known = known(kind, at: now)
    let seconds = least + (known?.mean ?? 0)
    let most = least + (known?.most ?? 0)
    let isLong = most >= limits.long && most + (known?.long ?? 0) >= limits.little
    // Until a time of its kind is recorded, a request counts with the whole time that the caller's
    // short requests may take together. So no other short request of the caller runs beside it.
    return Ticket(
      kind: kind, least: least,
      seconds: known == nil ? max(seconds, limits.shortSecondsOfCaller) : seconds, isLong: isLong)
  }

  /// Whether a long request may wait. Every caller may have one waiting long request, so that no
  /// caller can fill the queue for the others.
  private func mayWait(in lane: Lane) -> Bool {
    lane.waitingLong.isEmpty
      || waitingLong < limits.waiting
        && (lane.waitingLong.count < limits.waitingOfCaller
          || waitingLong == lane.waitingLong.count)
  }

  /// Adds a long request to the waiting ones, and its caller to ``turns``.
  private mutating func addLong(_ item: Waiting, to lane: inout Lane) {
    if lane.waitingLong.isEmpty { turns.append(item.kind.caller) }
    lane.waitingLong.append(item)
    waitingLong += 1
  }

  /// Whether a request may begin now, by the number and the expected time of the requests in
  /// progress.
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

  /// Returns the recorded times of a kind, reduced by their age at `now`; nil if no time is
  /// recorded.
  private func known(_ kind: Kind, at now: Double) -> Memory? {
    memory[kind].map { memory in
      let left = exp2((memory.time - now) / limits.halfLife)
      return Memory(
        most: memory.most * left, sum: memory.sum * left, count: memory.count * left,
        long: memory.long * left, time: now)
    }
  }

  /// Returns the expected seconds with which a waiting request counts, at least
  /// ``Limits/leastWaitingSeconds``.
  private func expectation(of kind: Kind, _ least: Double, at now: Double) -> Double {
    max(least + (known(kind, at: now)?.mean ?? 0), limits.leastWaitingSeconds)
  }

  /// Records the time of a request.
  ///
  /// - Returns: whether the request took longer than all recent ones of its kind. The result is
  ///   false if the time was not recorded, because ``Limits/memory`` other kinds are recorded.
  private mutating func remember(_ seconds: Double, of ticket: Ticket, at now: Double) -> Bool {
    let known = known(ticket.kind, at: now)
    if known == nil, memory.count >= limits.memory {
      // Old entries are removed at most once a second, because the removal visits all of them.
      guard now - swept >= 1 else { return false }
      swept = now
      memory = memory.filter { now - $0.value.time < 2 * limits.halfLife }
      guard memory.count < limits.memory else { return false }
    }
    var new = known ?? Memory(time: now)
    new.most = max(seconds, new.most)
    new.sum += seconds
    new.count += 1
    if ticket.least + seconds >= limits.long { new.long += ticket.least + seconds }
    memory[ticket.kind] = new
    return seconds > known?.most ?? 0
  }
}
