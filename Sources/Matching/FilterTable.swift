import CloudKitModel

/// The filters that are evaluated as they are, each once.
struct FilterTable: Sendable {
  private struct Used: Sendable {
    let filter: Filter
    var users: Int
  }

  private var slots = SlotTable<Used>()
  private var numbers: [PredicateIdentity: Int32] = [:]

  subscript(number: Int32) -> Filter { slots[number].filter }

  var count: Int { slots.count }

  mutating func use(_ filter: Filter) -> Int32 {
    let identity = PredicateIdentity(filter)
    if let known = numbers[identity] {
      slots[known].users += 1
      return known
    }
    let number = slots.insert(Used(filter: filter, users: 1))
    numbers[identity] = number
    return number
  }

  mutating func release(_ number: Int32) {
    slots[number].users -= 1
    guard slots[number].users == 0 else { return }
    numbers[PredicateIdentity(slots[number].filter)] = nil
    slots.remove(number)
  }
}
