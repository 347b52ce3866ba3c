extension TestCloud {
  /// Makes the next requests fail to which the conditions apply.
  ///
  /// ```swift
  /// cloud.fail(next: .rateLimited(retryAfter: 3), user: "anna", operation: .modifyRecords)
  /// cloud.fail(next: .conflict(changing: { $0["title"] = "Theirs" }))
  /// ```
  ///
  /// Faults apply in the order in which a test asks for them, one to each request. An operation of
  /// utility or background quality of service is retried by the client when the network or the
  /// server fails. That is the default outside of `CKDatabase`'s own methods. `times` counts
  /// attempts.
  ///
  /// - Parameters:
  ///   - user: the user whose requests fail; nil for all users.
  ///   - device: the device whose requests fail; nil for any.
  ///   - operation: the kind of requests that fail. Nil stands for any kind except those that come
  ///     in the background: the poll for notifications, and the registration of a device.
  ///   - times: the number of requests that fail; `.max` for all until ``removeFaults()``.
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
  ///   - times: the number of pushes that fail; `.max` for all until ``removeFaults()``.
  public func fail(
    nextPush fault: TestPushFault, user: String? = nil, device: String? = nil, times: Int = 1
  ) {
    pushFaults.plan.withLock {
      $0.add(fault, user: user, device: device, operation: nil, times: times)
    }
  }

  /// The number of faults that have not been used up. A test can check that it is 0 at the end.
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
