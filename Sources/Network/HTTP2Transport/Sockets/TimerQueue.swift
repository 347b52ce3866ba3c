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

  var count: Int { actions.count }

  /// Removes the cancelled entries before the first action, each in O(log *n*).
  mutating func nextDeadline() -> Int64? {
    while let first = heap.first {
      if actions[first.id] != nil { return first.deadline }
      removeFirst()
    }
    return nil
  }

  /// Adds an action. Of two actions with the same deadline, the one with the lower ID runs first.
  /// The deadline is in nanoseconds of a monotonic clock.
  mutating func insert(id: UInt64, deadline: Int64, action: @escaping @Sendable () -> Void) {
    actions[id] = action
    heap.append(Entry(deadline: deadline, id: id))
    siftUp(heap.count - 1)
  }

  /// Cancels an action in O(1) on average. The heap is rebuilt when most entries are cancelled.
  mutating func cancel(id: UInt64) {
    guard actions.removeValue(forKey: id) != nil else { return }
    guard heap.count > 64, actions.count < heap.count / 2 else { return }
    heap.removeAll { actions[$0.id] == nil }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
  }

  /// Removes and returns the first action if its deadline is not after `now`.
  mutating func popDue(at now: Int64) -> (@Sendable () -> Void)? {
    guard let deadline = nextDeadline(), deadline <= now else { return nil }
    let first = heap[0]
    removeFirst()
    return actions.removeValue(forKey: first.id)
  }

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

  /// Timers with the same deadline run in the order of their creation.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].deadline, heap[left].id) < (heap[right].deadline, heap[right].id)
  }
}
