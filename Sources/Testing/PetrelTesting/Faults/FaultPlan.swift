/// The faults that are still to come. The first that a test asked for comes first. It is a value,
/// which the cloud keeps under a lock.
struct FaultPlan<Fault: Sendable>: Sendable {
  /// The request or the push to which a fault may apply.
  struct Target: Sendable {
    /// The user's name; nil for a device without a signed-in user.
    var user: String?
    /// The device's name.
    var device: String
    /// The operation of the request; nil for a push.
    var operation: TestOperation?
  }

  /// A fault with its conditions.
  private struct Rule: Sendable {
    var fault: Fault
    /// The only user to whom the fault applies; nil for any user, and for none.
    var user: String?
    /// The only device to which the fault applies; nil for any.
    var device: String?
    /// The only operation to which the fault applies; nil for any that does not run in the
    /// background.
    var operation: TestOperation?
    /// The number of times that the fault is still to come, at least 1.
    var remaining: Int

    /// Whether the conditions hold for a target.
    func concerns(_ target: Target) -> Bool {
      if let user, user != target.user { return false }
      if let device, device != target.device { return false }
      if let operation { return operation == target.operation }
      return !(target.operation?.isInBackground ?? false)
    }
  }

  /// The faults in the order in which tests asked for them.
  private var rules: [Rule] = []

  /// The number of faults that are still to come; `Int.max` if there are more.
  var count: Int {
    rules.reduce(0) { count, rule in
      let (sum, overflow) = count.addingReportingOverflow(rule.remaining)
      return overflow ? .max : sum
    }
  }

  /// Adds a fault behind the others. A `times` of 0 or less adds nothing.
  mutating func add(
    _ fault: Fault, user: String?, device: String?, operation: TestOperation?, times: Int
  ) {
    guard times > 0 else { return }
    rules.append(
      Rule(fault: fault, user: user, device: device, operation: operation, remaining: times))
  }

  /// Returns the first fault that applies to the target, and uses it up once; nil if there is none.
  ///
  /// - Parameter canStrike: whether a fault has a meaning for the target. A fault without one waits
  ///   for another target.
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

  /// Removes all faults.
  mutating func removeAll() {
    rules.removeAll()
  }
}
