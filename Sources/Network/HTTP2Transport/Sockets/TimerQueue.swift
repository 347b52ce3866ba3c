/// A queue of actions, ordered by their deadline: a binary heap.
///
/// When an action is cancelled, its entry stays in the heap until its deadline, or until cancelled
/// entries are more than half of the heap.
struct TimerQueue {
  /// A deadline in the heap, with the ID of its action.
  private struct Entry {
    var deadline: Int64
    var id: UInt64
  }

  private var heap: [Entry] = []
  /// The actions that will run, by ID. If an ID in the heap has no action here, the action was
  /// cancelled.
  private var actions: [UInt64: @Sendable () -> Void] = [:]

  /// The number of actions that will run.
  var count: Int { actions.count }

  /// Returns the deadline of the first action; `nil` if there is none.
  ///
  /// - Complexity: O(log *n*) for each cancelled entry before the first action, where *n* is the
  ///   number of entries in the heap.
  mutating func nextDeadline() -> Int64? {
    while let first = heap.first {
      if actions[first.id] != nil { return first.deadline }
      removeFirst()
    }
    return nil
  }

  /// Adds an action.
  ///
  /// - Parameters:
  ///   - id: an ID that no other action of the queue has. Of two actions with the same deadline,
  ///     the action with the lower ID runs first.
  ///   - deadline: nanoseconds of a monotonic clock.
  /// - Complexity: O(log *n*), where *n* is the number of entries in the heap.
  mutating func insert(id: UInt64, deadline: Int64, action: @escaping @Sendable () -> Void) {
    actions[id] = action
    heap.append(Entry(deadline: deadline, id: id))
    siftUp(heap.count - 1)
  }

  /// Cancels an action; does nothing for an unknown ID.
  ///
  /// - Complexity: O(1) on average. The heap is rebuilt, in O(*n*) for its *n* entries, when it has
  ///   more than 64 entries and less than half of them are not cancelled.
  mutating func cancel(id: UInt64) {
    guard actions.removeValue(forKey: id) != nil else { return }
    guard heap.count > 64, actions.count < heap.count / 2 else { return }
    heap.removeAll { actions[$0.id] == nil }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
  }

  /// Removes and returns the first action if its deadline is not after `now`; returns `nil`
  /// otherwise.
  ///
  /// - Complexity: as for ``nextDeadline()``, and O(log *n*) for the removal, where *n* is the
  ///   number of entries in the heap.
  mutating func popDue(at now: Int64) -> (@Sendable () -> Void)? {
    guard let deadline = nextDeadline(), deadline <= now else { return nil }
    let first = heap[0]
    removeFirst()
    return actions.removeValue(forKey: first.id)
  }

  /// Removes the root of the heap.
  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    if !heap.isEmpty { siftDown(0) }
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard isBefore(index, parent) else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && isBefore(child, least) {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  /// Whether the entry at `left` runs before the one at `right`. Timers with the same deadline run
  /// in the order of their creation.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].deadline, heap[left].id) < (heap[right].deadline, heap[right].id)
  }
}
