import StoreModel

/// Which databases have changes to dispatch and which of them are being served, as a value.
///
/// Each database is a lane of its own, or each part of one that is divided: its changes go in the order
/// of their commits, and no other lane waits for it. The room in memory is shared. A lane that finds none, or wants more than half
/// of it, is behind: what did not fit, and all that follows, is read from the outbox, where every
/// change stands anyway.
struct LaneSchedule {
  /// What is to be done besides the work of the lanes.
  enum Task: Hashable {
    /// Look into the outbox for databases that have changes there, as after a start.
    case list
    /// Look once more, as soon as what was in doubt has been decided.
    case listAgain
    /// Begin to do this lane's work.
    case serve(DatabasePart)
    case stop
  }

  /// What a lane is to do next.
  enum Work {
    case dispatch([OutboxEntry])
    /// Read the outbox: changes were passed over.
    case catchUp
    /// Nothing came for a while, or somebody waits: what was kept back is to go.
    case idle
    /// Others wait for the lane's place: what was kept back is to go, and the rest later.
    case yield
    /// There is nothing left, and the lane is not served any more.
    case done
    case stop
  }

  fileprivate struct Lane {
    var waiting: [OutboxEntry] = []
    var isBehind = false
    var isServed = false
    /// How often it was given work since it is served.
    var turns = 0
  }

  /// After so many batches a lane makes room for those that wait.
  private static let turnsAtOnce = 16

  private enum Listing { case due, underWay, done }
  private enum Doubt { case none, raised, looking }

  /// Changes that may wait in memory.
  let capacity: Int
  /// Lanes that may be served at once.
  let laneLimit: Int
  private(set) var waitingCount = 0
  private(set) var isStopped = false
  /// Whether someone waits until everything is dispatched.
  var isAwaited = false
  /// A lane is there as long as it has something to do or is served.
  private var lanes: [DatabasePart: Lane] = [:]
  /// Lanes that are to be served, in order.
  private var queue: [DatabasePart] = []
  private var servedCount = 0
  private var listing = Listing.due
  private var doubt = Doubt.none

  init(capacity: Int, laneLimit: Int) {
    self.capacity = capacity
    self.laneLimit = max(1, laneLimit)
  }

  /// Whether every change was dispatched and that is stored.
  var isSettled: Bool {
    isStopped || (lanes.isEmpty && listing == .done && doubt == .none)
  }

  /// Whether a lane has to read the outbox.
  func isBehind(_ part: DatabasePart) -> Bool { lanes[part]?.isBehind ?? false }

  /// Takes in the changes of a commit.
  mutating func offer(_ entries: [OutboxEntry]) {
    // The outbox is not looked into before the listing begins: it will have them.
    if listing == .due || isStopped { return }
    for entry in entries {
      open(entry.part)
      let hasRoom = waitingCount < capacity
      if lanes[entry.part]?.take(entry, hasRoom: hasRoom, limit: max(1, capacity / 2)) == true {
        waitingCount += 1
      }
    }
  }

  // MARK: Lanes to be served

  /// The next task, nil when there is none.
  mutating func next() -> Task? {
    if isStopped { return .stop }
    if listing == .due {
      listing = .underWay
      return .list
    }
    if doubt == .raised, listing == .done {
      doubt = .looking
      return .listAgain
    }
    // What the list tells comes before what is in memory.
    guard listing == .done, servedCount < laneLimit, !queue.isEmpty else { return nil }
    let part = queue.removeFirst()
    lanes[part]?.isServed = true
    servedCount += 1
    return .serve(part)
  }

  /// These have changes in the outbox that may not have come in memory.
  mutating func list(_ parts: [DatabasePart]) {
    listing = .done
    if doubt == .looking { doubt = .none }
    for part in parts { fallBehind(part) }
  }

  /// The outbox could not be looked into: it is to be tried again.
  mutating func failListing() {
    if doubt == .looking {
      doubt = .raised
    } else {
      listing = .due
    }
  }

  /// The outbox may have changes that will not come in memory. A lane that is at work meanwhile may
  /// come upon one that should have gone before; the store does not let it, and then it falls behind.
  mutating func raiseDoubt() {
    // What has not begun to look yet will see them.
    if listing != .due { doubt = .raised }
  }

  // MARK: The work of a lane that is served

  /// The next work of a lane. Changes that were taken in before it fell behind come first, so that
  /// the order is kept.
  ///
  /// - Parameter keepsBack: whether the lane keeps changes back for a later transaction.
  /// - Returns: nil when it has nothing to do but to wait for company of what it keeps back.
  mutating func work(
    of part: DatabasePart, atMost limit: Int, keepsBack: Bool
  ) -> Work? {
    if isStopped {
      close(part)
      return .stop
    }
    if takeTurn(of: part) { return .yield }
    if let batch = lanes[part]?.give(atMost: limit), !batch.isEmpty {
      waitingCount -= batch.count
      return .dispatch(batch)
    }
    if isBehind(part) { return .catchUp }
    if keepsBack { return isAwaited ? .idle : nil }
    close(part)
    return .done
  }

  /// Counts a batch of a lane, and answers whether the next ones should come after those of others.
  mutating func takeTurn(of part: DatabasePart) -> Bool {
    guard let turns = lanes[part]?.turns else { return false }
    if turns >= Self.turnsAtOnce, !queue.isEmpty, servedCount >= laneLimit { return true }
    lanes[part]?.turns = turns + 1
    return false
  }

  /// The lane is served again when those that wait have had their turns.
  mutating func yield(_ part: DatabasePart) {
    guard lanes[part]?.isServed == true else { return }
    lanes[part]?.isServed = false
    lanes[part]?.turns = 0
    servedCount -= 1
    queue.append(part)
  }

  /// Whether a lane has something to do.
  func isOpen(_ part: DatabasePart) -> Bool { lanes[part] != nil }

  /// What waits in memory is dropped, for another server may dispatch it.
  mutating func doubtLease(of part: DatabasePart) {
    waitingCount -= lanes[part]?.drop() ?? 0
    lanes[part]?.isBehind = false
  }

  /// Another server does dispatch the lane's changes: it is served no more, unless some were taken in
  /// since ``doubtLease(of:)``, for those are this server's.
  mutating func abandon(_ part: DatabasePart) -> Bool {
    guard let lane = lanes[part], lane.waiting.isEmpty, !lane.isBehind else { return false }
    close(part)
    return true
  }

  /// From now on the lane's changes are taken in again. Whoever calls this reads the outbox afterwards: a
  /// change may have been committed before this call and offered before it, or not at all.
  mutating func beginCatchingUp(_ part: DatabasePart) {
    lanes[part]?.isBehind = false
  }

  /// What waits in memory is dropped; it is in the outbox.
  mutating func fallBehind(_ part: DatabasePart) {
    open(part)
    waitingCount -= lanes[part]?.drop() ?? 0
  }

  mutating func stop() {
    isStopped = true
  }

  private mutating func open(_ part: DatabasePart) {
    guard lanes[part] == nil else { return }
    lanes[part] = Lane()
    queue.append(part)
  }

  private mutating func close(_ part: DatabasePart) {
    guard let lane = lanes.removeValue(forKey: part), lane.isServed else { return }
    servedCount -= 1
    waitingCount -= lane.waiting.count
  }
}

extension LaneSchedule.Lane {
  /// Takes a change in and says so, or falls behind.
  fileprivate mutating func take(_ entry: OutboxEntry, hasRoom: Bool, limit: Int) -> Bool {
    if isBehind { return false }
    guard hasRoom, waiting.count < limit else {
      isBehind = true
      return false
    }
    waiting.append(entry)
    return true
  }

  fileprivate mutating func give(atMost limit: Int) -> [OutboxEntry] {
    let batch = Array(waiting.prefix(limit))
    waiting.removeFirst(batch.count)
    return batch
  }

  /// Falls behind, and answers how many changes waited.
  fileprivate mutating func drop() -> Int {
    defer { waiting = [] }
    isBehind = true
    return waiting.count
  }
}
