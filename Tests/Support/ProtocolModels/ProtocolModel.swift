/// A protocol of the servers as a state machine, of which every state that can be reached is looked at.
protocol ProtocolModel: Hashable {
  associatedtype Limits
  associatedtype Flaw

  /// Somebody is notified twice, out of order, or not of a change of which it is known that all were.
  var isLogWrong: Bool { get }
  /// Something is to be done yet.
  var hasWaitingChanges: Bool { get }

  init(limits: Limits)
  /// Returns the states that can follow without an event from outside.
  func steps(flaw: Flaw?) -> [Self]
  /// Returns the states that clients, people, time and power can lead to.
  func events(limits: Limits, flaw: Flaw?) -> [Self]
}

/// The result of the search through all states of a protocol.
package enum ProtocolVerdict: Equatable {
  case sound(states: Int)
  case logWrong
  /// Changes wait, and nothing will be done about it by itself.
  case forgotten
}

extension ProtocolModel {
  /// Goes through every state that can be reached.
  static func verdict(on limits: Limits, flaw: Flaw?) -> ProtocolVerdict {
    let start = Self(limits: limits)
    var known: Set<Self> = [start]
    var queue = [start]
    while let state = queue.popLast() {
      if state.isLogWrong { return .logWrong }
      let steps = state.steps(flaw: flaw)
      if steps.isEmpty, state.hasWaitingChanges { return .forgotten }
      for next in steps + state.events(limits: limits, flaw: flaw)
      where known.insert(next).inserted {
        queue.append(next)
      }
    }
    return .sound(states: known.count)
  }
}
