/// A priority queue of events by time, as a binary heap. Events of the same time are removed in the
/// order in which they were added, so each run of a simulation is the same.
struct EventQueue<Event> {
  /// The serial number orders events of the same time.
  private struct Entry {
    var time: Double
    var number: UInt64
    var event: Event

    func isBefore(_ other: Entry) -> Bool {
      time < other.time || (time == other.time && number < other.number)
    }
  }

  private var entries: [Entry] = []
  private var number: UInt64 = 0

  init() {}

  /// Adds an event.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of events in the queue.
  mutating func add(_ event: Event, at time: Double) {
    number += 1
    entries.append(Entry(time: time, number: number, event: event))
    var place = entries.count - 1
    while place > 0 {
      let parent = (place - 1) / 2
      guard entries[place].isBefore(entries[parent]) else { break }
      entries.swapAt(place, parent)
      place = parent
    }
  }

  /// Removes and returns the earliest event; `nil` if the queue is empty.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of events in the queue.
  mutating func removeFirst() -> (time: Double, event: Event)? {
    guard let last = entries.popLast() else { return nil }
    guard let first = entries.first else { return (last.time, last.event) }
    entries[0] = last
    var place = 0
    while true {
      var least = place
      let left = 2 * place + 1
      if left < entries.count, entries[left].isBefore(entries[least]) { least = left }
      if left + 1 < entries.count, entries[left + 1].isBefore(entries[least]) { least = left + 1 }
      guard least != place else { break }
      entries.swapAt(place, least)
      place = least
    }
    return (first.time, first.event)
  }
}
