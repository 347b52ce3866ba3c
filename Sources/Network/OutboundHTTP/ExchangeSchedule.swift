/// Decides which of the waiting requests goes next.
///
/// Each origin has a queue of its own and may have so many requests under way, so that one that is
/// slow holds up no other; origins take turns. What finds no room is refused.
struct ExchangeSchedule<Item> {
  /// Requests that may be under way, in all and to one origin.
  let exchangeLimit: Int
  let originLimit: Int
  /// Requests that may wait, in all and for one origin.
  let waitingLimit: Int
  let originWaitingLimit: Int

  private struct Origin {
    var waiting: ArraySlice<Item> = []
    var underWay = 0
    /// Whether it stands in ``turns``.
    var hasTurn = false
  }

  private var origins: [String: Origin] = [:]
  /// The origins of which a request may begin, each once, in turn.
  private var turns: ArraySlice<String> = []
  private(set) var waiting = 0
  private(set) var underWay = 0

  init(exchangeLimit: Int, originLimit: Int, waitingLimit: Int, originWaitingLimit: Int) {
    self.exchangeLimit = exchangeLimit
    self.originLimit = originLimit
    self.waitingLimit = waitingLimit
    self.originWaitingLimit = originWaitingLimit
  }

  /// Takes a request; false when too many wait.
  mutating func add(_ item: Item, to name: String) -> Bool {
    var origin = origins[name] ?? Origin()
    guard waiting < waitingLimit, origin.waiting.count < originWaitingLimit else { return false }
    // The dictionary must not hold the queue too while it grows, or it would be copied.
    origins[name] = nil
    origin.waiting.append(item)
    waiting += 1
    giveTurn(&origin, name)
    origins[name] = origin
    return true
  }

  /// The request that may begin now; nil when none waits or none may.
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

  /// Notes that a request of an origin is over.
  mutating func finish(_ name: String) {
    guard var origin = origins.removeValue(forKey: name) else { return }
    underWay -= 1
    origin.underWay -= 1
    giveTurn(&origin, name)
    if origin.underWay > 0 || !origin.waiting.isEmpty { origins[name] = origin }
  }

  /// Takes out what waits.
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

  private mutating func giveTurn(_ origin: inout Origin, _ name: String) {
    guard !origin.hasTurn, !origin.waiting.isEmpty, origin.underWay < originLimit else { return }
    origin.hasTurn = true
    turns.append(name)
  }
}
