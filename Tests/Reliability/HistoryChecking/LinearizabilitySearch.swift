/// Whether operations on one register that overlapped in time may have happened one after the other,
/// each at a moment between its beginning and its end.
///
/// The search of Wing and Gong with the memory of Lowe (J. M. Wing, C. Gong: Testing and Verifying
/// Concurrent Objects, 1993; G. Lowe: Testing for Linearizability, 2017): of the operations that could
/// be next one is chosen, and another one when that leads nowhere. What changes nothing and is true
/// now is taken at once, for it hinders nothing later.
///
/// - Complexity: linear in the number of operations where few overlap; exponential at worst in the number
///   of those that overlap and change something.
struct LinearizabilitySearch {
  /// A state of the register; 0 is the first.
  typealias State = Int

  enum Condition: Hashable {
    case any
    case equal(State)
    case notEqual(State)
    /// Neither the first state nor the given one.
    case present(not: State?)
  }

  struct Operation {
    var span: Span
    var condition: Condition
    /// The value of the register afterwards; `nil` if it stays unchanged.
    var result: State?
    /// Whether it may as well never have happened.
    var isOptional = false
    /// Which one it is, for the one who asks.
    var label: Int
  }

  /// Where the search came no further.
  struct Failure: Error {
    /// The operations that were put into an order, when they were most.
    var order: [Int]
    /// The operations of which one would have had to be next.
    var blocked: [Int]
    var state: State
  }

  private let required: [Operation]
  private let optional: [Operation]

  init(_ operations: [Operation]) {
    required = operations.filter { !$0.isOptional }.sorted { $0.span.began < $1.span.began }
    optional = operations.filter(\.isOptional).sorted { $0.span.began < $1.span.began }
  }

  private struct Position: Hashable {
    var taken: [UInt64]
    var state: State
  }

  /// A choice that was made, and those that are left to make in its place.
  private struct Choice {
    var position: Position
    var first: Int
    var orderCount: Int
    var rest: [Int]
  }

  /// An order in which all that must have happened may have happened, by labels.
  func order() throws(Failure) -> [Int] {
    var seen: Set<Position> = []
    var choices: [Choice] = []
    var order: [Int] = []
    var best = Failure(order: [], blocked: [], state: 0)
    var position = Position(
      taken: .init(repeating: 0, count: (required.count + optional.count + 63) / 64), state: 0)
    var first = 0
    while true {
      var candidates = next(&position, &first, &order)
      if first == required.count { return order }
      if order.count >= best.order.count {
        best = Failure(
          order: order, blocked: blocked(position, first).map { operation($0).label },
          state: position.state)
      }
      if !seen.insert(position).inserted { candidates = [] }
      if candidates.isEmpty {
        while let last = choices.last, last.rest.isEmpty { choices.removeLast() }
        guard var choice = choices.popLast() else { throw best }
        (position, first) = (choice.position, choice.first)
        order.removeSubrange(choice.orderCount...)
        let chosen = choice.rest.removeLast()
        choices.append(choice)
        take(chosen, &position, &order)
      } else {
        let chosen = candidates.removeLast()
        choices.append(
          Choice(position: position, first: first, orderCount: order.count, rest: candidates))
        take(chosen, &position, &order)
      }
    }
  }

  private func operation(_ index: Int) -> Operation {
    index < required.count ? required[index] : optional[index - required.count]
  }

  private func isTaken(_ index: Int, in position: Position) -> Bool {
    position.taken[index >> 6] & (1 << UInt64(index & 63)) != 0
  }

  private func take(_ index: Int, _ position: inout Position, _ order: inout [Int]) {
    position.taken[index >> 6] |= 1 << UInt64(index & 63)
    let operation = operation(index)
    if let result = operation.result { position.state = result }
    order.append(operation.label)
  }

  /// Takes all that is true now and changes nothing; answers what may be next, the likeliest last.
  private func next(
    _ position: inout Position, _ first: inout Int, _ order: inout [Int]
  ) -> [Int] {
    while true {
      while first < required.count, isTaken(first, in: position) { first += 1 }
      let possible = blocked(position, first)
      let fulfilled = possible.filter { isTrue(operation($0).condition, in: position.state) }
      let reads = fulfilled.filter { operation($0).result == nil }
      if reads.isEmpty {
        // Those that must end soonest are tried first, and those that need not be at last.
        return fulfilled.sorted {
          let (one, other) = (operation($0), operation($1))
          return (one.isOptional ? 1 : 0, one.span.ended) > (
            other.isOptional ? 1 : 0, other.span.ended
          )
        }
      }
      for read in reads { take(read, &position, &order) }
    }
  }

  /// The operations that may be next, because no other operation ended before they began.
  private func blocked(_ position: Position, _ first: Int) -> [Int] {
    var end = Span.never
    var found: [Int] = []
    var index = first
    while index < required.count, required[index].span.began <= end {
      if !isTaken(index, in: position) {
        found.append(index)
        end = min(end, required[index].span.ended)
      }
      index += 1
    }
    found.removeAll { required[$0].span.began > end }
    for (place, operation) in optional.enumerated() {
      if operation.span.began > end { break }
      if !isTaken(required.count + place, in: position) { found.append(required.count + place) }
    }
    return found
  }

  private func isTrue(_ condition: Condition, in state: State) -> Bool {
    switch condition {
    case .any: true
    case .equal(let wanted): state == wanted
    case .notEqual(let unwanted): state != unwanted
    case .present(let unwanted): state != 0 && state != unwanted
    }
  }
}
