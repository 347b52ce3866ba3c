/// A change that a sync engine has to send to the server.
protocol PendingChange: Hashable, Sendable {
  associatedtype Target: Hashable, Sendable

  var target: Target { get }
}

/// The changes that a sync engine has to send, in the order in which they were added.
///
/// A record or zone has at most one pending change. A change that is being sent is *in flight*: it is
/// not pending meanwhile, and the same change can be added again.
///
/// ```swift
/// changes.add(.saveRecord(a))
/// changes.beginSending([.saveRecord(a)])
/// changes.endSending(.saveRecord(a), isRetried: false)
/// ```
struct PendingChanges<Change: PendingChange> {
  /// A place in the order of changes.
  private enum Slot: Hashable {
    case pending(Change)
    case inFlight(Change)
    case empty
  }

  /// The changes in their order. A change keeps its slot while it is in flight, and so its place if
  /// it becomes pending again.
  private var slots: [Slot] = []
  private var emptyCount = 0
  private var pendingSlots: [Change.Target: Int] = [:]
  private var slotsInFlight: [Change.Target: Int] = [:]

  /// - Complexity: O(*n*), where *n* is the number of changes.
  var pending: [Change] {
    slots.compactMap { slot in
      if case .pending(let change) = slot { change } else { nil }
    }
  }

  /// The changes that the server may not have: the pending ones and those in flight. A change in
  /// flight is left out if its record or zone has a pending one, which is newer.
  var unsent: [Change] {
    slots.compactMap { slot in
      switch slot {
      case .pending(let change): change
      case .inFlight(let change): pendingSlots[change.target] == nil ? change : nil
      case .empty: nil
      }
    }
  }

  var isEmpty: Bool { pendingSlots.isEmpty }

  /// Adds a change at the end. A pending change that is the same stays at its place; another one of
  /// the same record or zone is removed.
  ///
  /// - Complexity: O(1) on average.
  mutating func add(_ change: Change) {
    if let place = pendingSlots[change.target] {
      guard slots[place] != .pending(change) else { return }
      empty(place)
    }
    compact()
    pendingSlots[change.target] = slots.count
    slots.append(.pending(change))
  }

  /// Removes a change. If it is in flight, it does not become pending again. The method does nothing
  /// for a change that is neither pending nor in flight.
  mutating func remove(_ change: Change) {
    if let place = pendingSlots[change.target], slots[place] == .pending(change) {
      pendingSlots[change.target] = nil
      empty(place)
    }
    if let place = slotsInFlight[change.target], slots[place] == .inFlight(change) {
      slotsInFlight[change.target] = nil
      empty(place)
    }
  }

  /// Removes all changes. Those in flight do not become pending again.
  mutating func removeAll() { self = PendingChanges() }

  // MARK: Sending

  /// Takes changes that a request sends out of the pending ones. The method ignores changes that are
  /// not pending.
  mutating func beginSending(_ changes: some Sequence<Change>) {
    for change in changes {
      guard let place = pendingSlots[change.target], slots[place] == .pending(change) else {
        continue
      }
      pendingSlots[change.target] = nil
      slots[place] = .inFlight(change)
      if let former = slotsInFlight.updateValue(place, forKey: change.target) { empty(former) }
    }
  }

  /// Ends the flight of a change.
  ///
  /// - Parameter isRetried: Whether the change becomes pending again, at its former place. It does not
  ///   if its record or zone has a newer change.
  mutating func endSending(_ change: Change, isRetried: Bool) {
    guard let place = slotsInFlight[change.target], slots[place] == .inFlight(change) else {
      return
    }
    slotsInFlight[change.target] = nil
    if isRetried, pendingSlots[change.target] == nil {
      pendingSlots[change.target] = place
      slots[place] = .pending(change)
    } else {
      empty(place)
    }
  }

  // MARK: Slots

  private mutating func empty(_ place: Int) {
    slots[place] = .empty
    emptyCount += 1
  }

  /// Removes the empty slots if they are most of all. So each addition moves few slots on average.
  private mutating func compact() {
    guard emptyCount > 16, emptyCount > slots.count / 2 else { return }
    slots.removeAll { $0 == .empty }
    emptyCount = 0
    for (place, slot) in slots.enumerated() {
      switch slot {
      case .pending(let change): pendingSlots[change.target] = place
      case .inFlight(let change): slotsInFlight[change.target] = place
      case .empty: break
      }
    }
  }
}
