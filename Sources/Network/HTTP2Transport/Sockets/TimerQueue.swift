/// Actions in the order of their time: a binary heap in which cancelled ones stay, without their
/// action, until their time or until they are half of it.
struct TimerQueue {
  private struct Entry {
    var deadline: Int64
    var id: UInt64
  }

  private var heap: [Entry] = []
  private var actions: [UInt64: @Sendable () -> Void] = [:]

  /// The number of actions that will run.
  var count: Int { actions.count }

  /// When the first action is due.
  ///
  /// - Complexity: O(log *n*) for each cancelled entry that stands before it.
  mutating func nextDeadline() -> Int64? {
    while let first = heap.first {
      if actions[first.id] != nil { return first.deadline }
      removeFirst()
    }
    return nil
  }

  /// - Complexity: O(log *n*).
  mutating func insert(id: UInt64, deadline: Int64, action: @escaping @Sendable () -> Void) {
    actions[id] = action
    heap.append(Entry(deadline: deadline, id: id))
    siftUp(heap.count - 1)
  }

  mutating func cancel(id: UInt64) {
    guard actions.removeValue(forKey: id) != nil else { return }
    guard heap.count > 64, actions.count < heap.count / 2 else { return }
    heap.removeAll { actions[$0.id] == nil }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
  }

  /// Removes the first action if its time has come.
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

  /// Timers with the same deadline run in the order of their making.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].deadline, heap[left].id) < (heap[right].deadline, heap[right].id)
  }
}
