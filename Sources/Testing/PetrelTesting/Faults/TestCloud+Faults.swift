extension TestCloud {
  /// Makes the next requests that match the conditions fail.
  ///
  /// ```swift
  /// cloud.fail(next: .rateLimited(retryAfter: 3), user: "anna", operation: .modifyRecords)
  /// cloud.fail(next: .conflict(changing: { $0["title"] = "Theirs" }))
  /// ```
  ///
  /// Each request gets at most one fault: the first one, in the order of the calls of this method,
  /// whose conditions match. A fault without a meaning for the request, such as a conflict for a
  /// query, is kept for a later request.
  ///
  /// The client retries operations whose quality of service is `.utility` or `.background` when the
  /// network fails or the server is busy. Each retry is a request of its own, so it counts for
  /// `times`. Operations of other qualities, also of `.default`, report the failure at once.
  ///
  /// - Parameters:
  ///   - user: the user whose requests fail. Nil for all users, and for devices without a signed-in
  ///     user.
  ///   - device: the device whose requests fail; nil for any.
  ///   - operation: the kind of requests that fail. Nil stands for any kind, except the requests
  ///     that the client sends in the background: the poll for notifications, and the registration
  ///     of a device.
  ///   - times: the number of requests that fail. `.max` for all requests until ``removeFaults()``.
  public func fail(
    next fault: TestFault, user: String? = nil, device: String? = nil,
    operation: TestOperation? = nil, times: Int = 1
  ) {
    faults.withLock {
      $0.add(fault, user: user, device: device, operation: operation, times: times)
    }
  }

  /// Makes APNs refuse the next pushes.
  ///
  /// - Parameters:
  ///   - user: the user whose pushes fail; nil for all users.
  ///   - device: the name of the devices whose pushes fail; nil for any.
  ///   - times: the number of pushes that fail. `.max` for all pushes until ``removeFaults()``.
  public func fail(
    nextPush fault: TestPushFault, user: String? = nil, device: String? = nil, times: Int = 1
  ) {
    pushFaults.plan.withLock {
      $0.add(fault, user: user, device: device, operation: nil, times: times)
    }
  }

  /// The number of requests and pushes that are still to fail: the sum of the remaining `times` of
  /// all faults. A test can check at its end that the sum is 0. A sum above `Int.max` counts as
  /// `Int.max`.
  public var waitingFaults: Int {
    let requests = faults.withLock { $0.count }
    let (sum, overflow) = requests.addingReportingOverflow(pushFaults.plan.withLock { $0.count })
    return overflow ? .max : sum
  }

  /// Removes all faults of requests and pushes.
  public func removeFaults() {
    faults.withLock { $0.removeAll() }
    pushFaults.plan.withLock { $0.removeAll() }
  }
}
