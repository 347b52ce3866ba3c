/// The decision whether a request goes to its handler or gets 503 because the server is overloaded.
/// It is a value without a clock.
///
/// The value watches the admitted requests without an answer. A request that has waited longer than
/// `patience` is *overdue*. When at least `crowd` requests are overdue, the server does not keep
/// up. A new request would wait even longer, so the server refuses it at once, which costs almost
/// nothing.
///
/// The rule needs no estimate of the server's capacity. One slow request, or a burst, refuses
/// nobody. It follows K. Nichols and V. Jacobson, Controlling Queue Delay (2012): under lasting
/// overload, a queue only delays all requests.
///
/// - Complexity: O(1) for each call, amortized.
struct Admission {
  /// An admitted request: its start, and whether it has its answer.
  private struct Entry {
    var began: ContinuousClock.Instant
    var isDone = false
  }

  /// The most entries that the value keeps, from the oldest one without an answer on. If more come,
  /// the oldest counts as answered, because a single long request is no sign of load.
  private static let memory = 100_000

  private let patience: Duration
  private let crowd: Int
  /// The admitted requests in their order; those before `start` are done.
  private var entries: [Entry] = []
  /// The number of entries removed from the front. An entry's number minus this is its index.
  private var forgotten = 0
  /// The index of the first entry without an answer.
  private var start = 0
  /// The index of the first entry that has not waited longer than `patience`.
  private var end = 0
  /// The number of entries before `end` without an answer.
  private(set) var overdue = 0

  init(patience: Duration, crowd: Int) {
    self.patience = patience
    self.crowd = crowd
  }

  /// Admits a request and returns its number for ``leave(_:)``; `nil` if the server is overloaded.
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

  mutating func leave(_ number: Int) {
    let place = number - forgotten
    if place >= start { finish(place) }
  }

  /// Marks an entry as done and removes done entries at the front, in large steps.
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
