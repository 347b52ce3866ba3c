/// The queues of waiting requests, and the decision which one goes next. It is a value without I/O.
///
/// Each origin (scheme, host and port) has its own queue and its own limit, so a slow server does
/// not delay others. Origins take turns. A request over a limit of waiting ones is refused.
struct ExchangeSchedule<Item> {
  /// The number of requests under way, in all.
  let exchangeLimit: Int
  /// The number of requests under way to one origin.
  let originLimit: Int
  /// The number of waiting requests, in all.
  let waitingLimit: Int
  /// The number of waiting requests for one origin.
  let originWaitingLimit: Int

  /// The requests of one origin.
  private struct Origin {
    var waiting: ArraySlice<Item> = []
    var underWay = 0
    /// Whether the origin is in ``turns``.
    var hasTurn = false
  }

  private var origins: [String: Origin] = [:]
  /// The origins whose next request may begin, each once, in the order of their turns.
  private var turns: ArraySlice<String> = []
  /// The number of waiting requests.
  private(set) var waiting = 0
  /// The number of requests under way.
  private(set) var underWay = 0

  init(exchangeLimit: Int, originLimit: Int, waitingLimit: Int, originWaitingLimit: Int) {
    self.exchangeLimit = exchangeLimit
    self.originLimit = originLimit
    self.waitingLimit = waitingLimit
    self.originWaitingLimit = originWaitingLimit
  }

  /// Adds a request to the queue of its origin.
  ///
  /// - Returns: `false` when too many wait.
  /// - Complexity: O(1) on average.
  mutating func add(_ item: Item, to name: String) -> Bool {
    var origin = origins[name] ?? Origin()
    guard waiting < waitingLimit, origin.waiting.count < originWaitingLimit else { return false }
    // The dictionary must not hold a second reference to the queue while it grows, because that
    // would copy the queue.
    origins[name] = nil
    origin.waiting.append(item)
    waiting += 1
    giveTurn(&origin, name)
    origins[name] = origin
    return true
  }

  /// Removes and returns the request that may begin now; `nil` when none waits or none may begin.
  mutating func next() -> Item? {
    guard underWay < exchangeLimit, let name = turns.popFirst(),
      var origin = origins.removeValue(forKey: name), let item = origin.waiting.popFirst()
    else { return nil }
    waiting -= 1
    underWay += 1
    origin.underWay += 1
    origin.hasTurn = false
    giveTurn(&origin, name)
    origins[name] = origin
    return item
  }

  /// Records that a request of an origin has ended.
  mutating func finish(_ name: String) {
    guard var origin = origins.removeValue(forKey: name) else { return }
    underWay -= 1
    origin.underWay -= 1
    giveTurn(&origin, name)
    if origin.underWay > 0 || !origin.waiting.isEmpty { origins[name] = origin }
  }

  /// Removes and returns all waiting requests.
  mutating func removeWaiting() -> [Item] {
    let items = origins.values.flatMap(\.waiting)
    for name in origins.keys {
      origins[name]?.waiting = []
      origins[name]?.hasTurn = false
    }
    turns = []
    waiting = 0
    return items
  }

  /// Adds an origin to the turns, if it has a waiting request and capacity for it.
  private mutating func giveTurn(_ origin: inout Origin, _ name: String) {
    guard !origin.hasTurn, !origin.waiting.isEmpty, origin.underWay < originLimit else { return }
    origin.hasTurn = true
    turns.append(name)
  }
}
