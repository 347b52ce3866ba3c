import StoreModel

/// The state machine that decides which databases are dispatched and in which order. It is a value.
///
/// Each database, or each part of a divided one, is a *lane*. A task that *serves* a lane
/// dispatches the changes of the lane in the order of their commits. Up to ``laneLimit`` lanes are
/// served at once.
///
/// The *outbox* is the store's table of all changes that are not yet dispatched. Changes also wait
/// in memory, where all lanes together have a capacity: a number of changes, and a number of bytes. A
/// lane *falls behind* if no capacity is left, or if its own changes exceed half of the capacity. The
/// change that did not fit, and all later ones, are then read from the outbox.
struct LaneSchedule {
  /// A task besides the work of the lanes.
  enum Task: Hashable {
    /// List the databases with changes in the outbox. This is the first task after a start.
    case list
    /// List these databases again, after a commit with an unknown outcome. The caller first makes a
    /// write. After the write, the outcome of that commit is known.
    case listAgain
    case serve(DatabasePart)
    case stop
  }

  /// The next work of a lane.
  enum Work {
    /// Dispatch these changes.
    case dispatch([OutboxEntry])
    /// Read the outbox, because it has changes that are not in memory.
    case catchUp
    /// Store the dispatch of the changes that the lane keeps back: no change came for a while, or a
    /// caller waits. A lane *keeps back* changes without firings, to store their dispatch in a
    /// later transaction.
    case idle
    /// Store the dispatch of the changes that the lane keeps back, then stop serving the lane for
    /// now. Other lanes wait.
    case yield
    case done
    /// The schedule was stopped: store the dispatch of the changes that the lane keeps back, and
    /// end.
    case stop
  }

  /// The changes and the state of one lane.
  fileprivate struct Lane {
    /// The changes that wait in memory, in the order of their commits.
    var waiting: [OutboxEntry] = []
    var waitingBytes = 0
    var isBehind = false
    var isServed = false
    /// The number of batches since the present task began to serve the lane.
    var turns = 0
  }

  /// The number of batches after which a lane makes place for waiting lanes.
  private static let turnsAtOnce = 16

  /// The state of the listing of the outbox: needed, under way, or done.
  private enum Listing { case due, underWay, done }
  /// The state after a commit with an unknown outcome: there is no commit of this kind (`none`), a
  /// listing is needed (`raised`), or a listing is under way (`looking`).
  private enum Doubt { case none, raised, looking }

  /// The greatest number of changes that wait in memory.
  let capacity: Int
  /// The greatest size in bytes of the changes that wait in memory, as they are stored.
  private static let byteCapacity = 64 << 20
  /// The greatest number of lanes that are served at once, at least 1.
  let laneLimit: Int
  private(set) var waitingCount = 0
  private var waitingBytes = 0
  private(set) var isStopped = false
  /// Whether a caller waits until everything is dispatched.
  var hasWaitingCaller = false
  private var lanes: [DatabasePart: Lane] = [:]
  private var queue: [DatabasePart] = []
  private var servedCount = 0
  private var listing = Listing.due
  /// The state after a commit with an unknown outcome.
  private var doubt = Doubt.none

  /// Creates a schedule that begins with a listing of the outbox.
  init(capacity: Int, laneLimit: Int) {
    self.capacity = capacity
    self.laneLimit = max(1, laneLimit)
  }

  /// Whether every change is dispatched and its dispatch is stored. The value is also true after a
  /// stop.
  var isSettled: Bool {
    isStopped || (lanes.isEmpty && listing == .done && doubt == .none)
  }

  func isBehind(_ part: DatabasePart) -> Bool { lanes[part]?.isBehind ?? false }

  /// Adds the changes of a commit. A lane that is behind, or has no capacity, does not store them
  /// in memory.
  mutating func offer(_ entries: [OutboxEntry]) {
    // A listing that has not begun will find these changes in the outbox.
    if listing == .due || isStopped { return }
    for entry in entries {
      open(entry.part)
      let hasRoom = waitingCount < capacity && waitingBytes < Self.byteCapacity
      let isTaken = lanes[entry.part]?.take(
        entry, hasRoom: hasRoom, limit: max(1, capacity / 2), byteLimit: Self.byteCapacity / 2)
      if isTaken == true {
        waitingCount += 1
        waitingBytes += entry.byteCount
      }
    }
  }

  // MARK: Starting lanes

  /// Returns the next task; `nil` if there is none.
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
    // No lane is served before the listing is done, because the listed changes are older than those
    // in memory.
    guard listing == .done, servedCount < laneLimit, !queue.isEmpty else { return nil }
    let part = queue.removeFirst()
    lanes[part]?.isServed = true
    servedCount += 1
    return .serve(part)
  }

  /// Ends a listing. The lanes of the listed databases read the outbox, because not all of their
  /// changes may be in memory.
  mutating func list(_ parts: [DatabasePart]) {
    listing = .done
    if doubt == .looking { doubt = .none }
    for part in parts { fallBehind(part) }
  }

  /// Records that the listing of the outbox failed and must be repeated.
  mutating func failListing() {
    if doubt == .looking {
      doubt = .raised
    } else {
      listing = .due
    }
  }

  /// Records that the outbox may have changes that ``offer(_:)`` will not receive, because the
  /// outcome of a commit is unknown.
  ///
  /// A lane may try to dispatch a later change first. The store refuses that with
  /// `StoreError.Code.outOfOrder`, and the lane falls behind.
  mutating func raiseDoubt() {
    // A listing that has not begun will find these changes anyway.
    if listing != .due { doubt = .raised }
  }

  // MARK: The work of a lane that is served

  /// Returns the next work of a lane. Changes in memory come first, because they are older than
  /// those that must be read from the outbox.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of changes to dispatch.
  ///   - keepsBack: Whether the lane keeps changes back for a later transaction.
  /// - Returns: `nil` if the lane keeps changes back and should wait for further ones.
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
      waitingBytes -= batch.reduce(0) { $0 + $1.byteCount }
      return .dispatch(batch)
    }
    if isBehind(part) { return .catchUp }
    if keepsBack { return hasWaitingCaller ? .idle : nil }
    close(part)
    return .done
  }

  /// Counts a batch of a lane, unless the lane should make place.
  ///
  /// - Returns: `true` if the lane should make place for waiting lanes now.
  mutating func takeTurn(of part: DatabasePart) -> Bool {
    guard let turns = lanes[part]?.turns else { return false }
    if turns >= Self.turnsAtOnce, !queue.isEmpty, servedCount >= laneLimit { return true }
    lanes[part]?.turns = turns + 1
    return false
  }

  /// Stops serving the lane for now, and adds it to the end of the queue.
  mutating func yield(_ part: DatabasePart) {
    guard lanes[part]?.isServed == true else { return }
    lanes[part]?.isServed = false
    lanes[part]?.turns = 0
    servedCount -= 1
    queue.append(part)
  }

  func isOpen(_ part: DatabasePart) -> Bool { lanes[part] != nil }

  /// Removes the lane's changes from memory, because another server may dispatch them. The lane
  /// does not read the outbox for them.
  mutating func doubtLease(of part: DatabasePart) {
    dropChanges(of: part)
    lanes[part]?.isBehind = false
  }

  /// Stops serving a lane whose changes another server dispatches.
  ///
  /// - Returns: `true` if the lane is no longer served. If changes were added since
  ///   ``doubtLease(of:)``, the result is `false` and the lane continues, because these changes
  ///   belong to this server.
  mutating func abandon(_ part: DatabasePart) -> Bool {
    guard let lane = lanes[part], lane.waiting.isEmpty, !lane.isBehind else { return false }
    close(part)
    return true
  }

  /// Makes the lane accept new changes in memory again.
  ///
  /// The caller must read the outbox after this call. A change that was committed before the call
  /// may be missing in memory.
  mutating func beginCatchingUp(_ part: DatabasePart) {
    lanes[part]?.isBehind = false
  }

  /// Makes the lane read the outbox, and removes its changes from memory. The outbox has them too.
  /// A lane without work is added to the queue.
  mutating func fallBehind(_ part: DatabasePart) {
    open(part)
    dropChanges(of: part)
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
    waitingBytes -= lane.waitingBytes
  }

  private mutating func dropChanges(of part: DatabasePart) {
    waitingCount -= lanes[part]?.waiting.count ?? 0
    waitingBytes -= lanes[part]?.waitingBytes ?? 0
    lanes[part]?.drop()
  }
}

extension LaneSchedule.Lane {
  /// Adds a change. Without capacity, the lane falls behind and does not add the change. The outbox
  /// has it.
  ///
  /// - Parameters:
  ///   - hasRoom: Whether the common capacity of all lanes has space for one more change.
  ///   - limit: The greatest number of changes of this lane in memory.
  ///   - byteLimit: The size in bytes of the changes in memory at which no further one is added.
  /// - Returns: `true` if the change was added. A lane that is behind adds no change.
  fileprivate mutating func take(
    _ entry: OutboxEntry, hasRoom: Bool, limit: Int, byteLimit: Int
  ) -> Bool {
    if isBehind { return false }
    guard hasRoom, waiting.count < limit, waitingBytes < byteLimit else {
      isBehind = true
      return false
    }
    waiting.append(entry)
    waitingBytes += entry.byteCount
    return true
  }

  /// Removes and returns the oldest changes in memory.
  fileprivate mutating func give(atMost limit: Int) -> [OutboxEntry] {
    let batch = Array(waiting.prefix(limit))
    waiting.removeFirst(batch.count)
    waitingBytes -= batch.reduce(0) { $0 + $1.byteCount }
    return batch
  }

  fileprivate mutating func drop() {
    isBehind = true
    waiting = []
    waitingBytes = 0
  }
}
