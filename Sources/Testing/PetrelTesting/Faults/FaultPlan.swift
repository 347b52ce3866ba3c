/// The faults that still apply to later requests or pushes, in the order in which a test asked for
/// them. The plan is a value, which the cloud keeps under a lock.
struct FaultPlan<Fault: Sendable>: Sendable {
  /// A request or a push to which a fault may apply.
  struct Target: Sendable {
    /// The user's name; nil for a device without a signed-in user.
    var user: String?
    var device: String
    /// The operation of the request; nil for a push.
    var operation: TestOperation?
  }

  /// A fault with its conditions.
  private struct Rule: Sendable {
    var fault: Fault
    /// The only user to whom the fault applies. Nil for any user, and for devices without a
    /// signed-in user.
    var user: String?
    /// The only device to which the fault applies; nil for any.
    var device: String?
    /// The only operation to which the fault applies. Nil for pushes, and for any operation except
    /// those that run in the background (``TestOperation/isInBackground``).
    var operation: TestOperation?
    /// The number of times that the fault still applies, at least 1.
    var remaining: Int

    func concerns(_ target: Target) -> Bool {
      if let user, user != target.user { return false }
      if let device, device != target.device { return false }
      if let operation { return operation == target.operation }
      return !(target.operation?.isInBackground ?? false)
    }
  }

  private var rules: [Rule] = []

  /// The number of times that all faults together still apply. A greater number than `Int.max`
  /// counts as `Int.max`.
  var count: Int {
    rules.reduce(0) { count, rule in
      let (sum, overflow) = count.addingReportingOverflow(rule.remaining)
      return overflow ? .max : sum
    }
  }

  /// Adds a fault after the others. Adds nothing if `times` is 0 or less.
  mutating func add(
    _ fault: Fault, user: String?, device: String?, operation: TestOperation?, times: Int
  ) {
    guard times > 0 else { return }
    rules.append(
      Rule(fault: fault, user: user, device: device, operation: operation, remaining: times))
  }

  /// Returns the first fault that applies to the target; nil if there is none. The fault then
  /// applies one time less, and is removed after the last time.
  ///
  /// - Parameter canStrike: returns whether a fault has a meaning for the target. A fault without a
  ///   meaning is kept for a later target.
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
