/// Whether a request may go to its handler, or is to come back later, as a value.
///
/// It looks at those that were let in and have no answer yet. When a crowd of them has waited for too long
/// the server does not keep up: who comes then would wait longer still, so he is refused at once, which
/// costs next to nothing. How much a server can do need not be known; a single slow request, or many that
/// come at once, stop nobody. (Of what comes faster than it is done a queue only delays all: K. Nichols,
/// V. Jacobson: Controlling Queue Delay, 2012.)
///
/// - Complexity: O(1) for each call, amortized.
struct Admission {
  private struct Entry {
    var began: ContinuousClock.Instant
    var isDone = false
  }

  /// Requests that are remembered at most. One that came before all of them, and has no answer yet, is
  /// no sign of load, and counts no more.
  private static let memory = 100_000

  private let patience: Duration
  private let crowd: Int
  /// Those that were let in, from the oldest without an answer on.
  private var entries: [Entry] = []
  /// How many entries were forgotten, and where the first that counts stands.
  private var forgotten = 0
  private var start = 0
  /// Where those begin that have not waited for too long.
  private var end = 0
  /// How many before that have no answer.
  private(set) var overdue = 0

  /// - Parameters:
  ///   - patience: how long requests may wait.
  ///   - crowd: how many must have waited for longer.
  init(patience: Duration, crowd: Int) {
    self.patience = patience
    self.crowd = crowd
  }

  /// Lets a request in.
  ///
  /// - Returns: what to give to ``leave(_:)`` when it has its answer; nil when it is refused.
  mutating func enter(at now: ContinuousClock.Instant) -> Int? {
    let limit = now - patience
    while end < entries.count, entries[end].began < limit {
      if !entries[end].isDone { overdue += 1 }
      end += 1
    }
    guard overdue < crowd else { return nil }
    if entries.count - start >= Self.memory { finish(start) }
    entries.append(Entry(began: now))
    return forgotten + entries.count - 1
  }

  /// A request has its answer.
  mutating func leave(_ number: Int) {
    let place = number - forgotten
    if place >= start { finish(place) }
  }

  private mutating func finish(_ place: Int) {
    entries[place].isDone = true
    if place < end { overdue -= 1 }
    while start < entries.count, entries[start].isDone { start += 1 }
    end = max(end, start)
    guard start > 1_024, start > entries.count / 2 else { return }
    entries.removeFirst(start)
    forgotten += start
    end -= start
    start = 0
  }
}
