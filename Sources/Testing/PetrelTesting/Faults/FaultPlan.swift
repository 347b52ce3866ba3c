/// The faults that are still to come, as a value: the first that was asked for comes first.
struct FaultPlan<Fault: Sendable>: Sendable {
  /// What a fault can strike.
  struct Target: Sendable {
    var user: String?
    var device: String
    /// Nil for a push.
    var operation: TestOperation?
  }

  private struct Rule: Sendable {
    var fault: Fault
    /// Nil means any, also none.
    var user: String?
    var device: String?
    /// Nil means any that does not run in the background.
    var operation: TestOperation?
    var remaining: Int

    func concerns(_ target: Target) -> Bool {
      if let user, user != target.user { return false }
      if let device, device != target.device { return false }
      if let operation { return operation == target.operation }
      return !(target.operation?.isInBackground ?? false)
    }
  }

  private var rules: [Rule] = []

  /// How many are still to come.
  var count: Int {
    rules.reduce(0) { count, rule in
      let (sum, overflow) = count.addingReportingOverflow(rule.remaining)
      return overflow ? .max : sum
    }
  }

  mutating func add(
    _ fault: Fault, user: String?, device: String?, operation: TestOperation?, times: Int
  ) {
    guard times > 0 else { return }
    rules.append(
      Rule(fault: fault, user: user, device: device, operation: operation, remaining: times))
  }

  /// The fault that strikes the target, which is then used up once.
  ///
  /// - Parameter canStrike: whether a fault means anything to the target; one that does not waits
  ///   for another.
  mutating func take(
    for target: Target, where canStrike: (Fault) -> Bool = { _ in true }
  ) -> Fault? {
    guard let index = rules.firstIndex(where: { $0.concerns(target) && canStrike($0.fault) })
    else { return nil }
    let fault = rules[index].fault
    rules[index].remaining -= 1
    if rules[index].remaining == 0 { rules.remove(at: index) }
    return fault
  }

  mutating func removeAll() {
    rules.removeAll()
  }
}
