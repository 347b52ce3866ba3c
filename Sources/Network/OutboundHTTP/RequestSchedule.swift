/// The queues of waiting requests, with the rule that decides which request begins next. The type
/// does no I/O.
///
/// Each origin (scheme, host and port of a URL) has its own queue and its own limit, so a slow
/// server does not delay others. The origins begin their requests round robin. If too many
/// requests wait, ``add(_:to:)`` refuses further requests.
struct RequestSchedule<Item> {
  /// The greatest number of requests under way to all origins together.
  let requestLimit: Int
  /// The greatest number of requests under way to one origin.
  let originLimit: Int
  /// The greatest number of waiting requests for all origins together.
  let waitingLimit: Int
  /// The greatest number of waiting requests for one origin.
  let originWaitingLimit: Int

  /// The requests of one origin.
  private struct Origin {
    var waiting: ArraySlice<Item> = []
    var underWay = 0
    /// Whether the origin is in ``queue``.
    var isQueued = false
  }

  private var origins: [String: Origin] = [:]
  /// The origins that have a waiting request and are below ``originLimit``, in the order
  /// in which their next requests begin. Each origin is in the list at most once.
  private var queue: ArraySlice<String> = []
  /// The number of waiting requests, for all origins together.
  private(set) var waiting = 0
  /// The number of requests under way, to all origins together.
  private(set) var underWay = 0

  init(requestLimit: Int, originLimit: Int, waitingLimit: Int, originWaitingLimit: Int) {
    self.requestLimit = requestLimit
    self.originLimit = originLimit
    self.waitingLimit = waitingLimit
    self.originWaitingLimit = originWaitingLimit
  }

  /// Adds a request to the queue of the origin `name`.
  ///
  /// - Returns: `true` if the request is in the queue; `false` if too many requests wait.
  /// - Complexity: O(1) on average.
  mutating func add(_ item: Item, to name: String) -> Bool {
    var origin = origins[name] ?? Origin()
    guard waiting < waitingLimit, origin.waiting.count < originWaitingLimit else { return false }
    // The entry is removed during the change. Otherwise the dictionary would have a second
    // reference to the queue, and `append` would copy the queue.
    origins[name] = nil
    origin.waiting.append(item)
    waiting += 1
    enqueue(&origin, name)
    origins[name] = origin
    return true
  }

  /// Removes and returns the next request, which then counts as under way; `nil` if no request
  /// waits or the limits allow none to begin.
  mutating func next() -> Item? {
    guard underWay < requestLimit, let name = queue.popFirst(),
      var origin = origins.removeValue(forKey: name), let item = origin.waiting.popFirst()
    else { return nil }
    waiting -= 1
    underWay += 1
    origin.underWay += 1
    origin.isQueued = false
    enqueue(&origin, name)
    origins[name] = origin
    return item
  }

  /// Records that a request to the origin `name` has ended.
  mutating func finish(_ name: String) {
    guard var origin = origins.removeValue(forKey: name) else { return }
    underWay -= 1
    origin.underWay -= 1
    enqueue(&origin, name)
    if origin.underWay > 0 || !origin.waiting.isEmpty { origins[name] = origin }
  }

  /// Removes and returns all waiting requests.
  mutating func removeWaiting() -> [Item] {
    let items = origins.values.flatMap(\.waiting)
    for name in origins.keys {
      origins[name]?.waiting = []
      origins[name]?.isQueued = false
    }
    queue = []
    waiting = 0
    return items
  }

  /// Adds an origin to ``queue`` if it is not there, has a waiting request and is below
  /// ``originLimit``.
  private mutating func enqueue(_ origin: inout Origin, _ name: String) {
    guard !origin.isQueued, !origin.waiting.isEmpty, origin.underWay < originLimit else { return }
    origin.isQueued = true
    queue.append(name)
  }
}
