/// What is to happen, by the time at which it does: a binary heap. What is due at the same time happens in
/// the order in which it was added, so that a run is the same each time.
public struct EventQueue<Event> {
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

  public init() {}

  public var count: Int { entries.count }

  /// - Complexity: O(log *n*).
  public mutating func add(_ event: Event, at time: Double) {
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

  /// The first that is due; nil when there is none.
  ///
  /// - Complexity: O(log *n*).
  public mutating func removeFirst() -> (time: Double, event: Event)? {
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
