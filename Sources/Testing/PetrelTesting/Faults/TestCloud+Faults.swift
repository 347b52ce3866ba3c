extension TestCloud {
  /// Lets the next requests that fit go wrong.
  ///
  /// ```swift
  /// cloud.fail(next: .rateLimited(retryAfter: 3), user: "anna", operation: .modifyRecords)
  /// cloud.fail(next: .conflict(changing: { $0["title"] = "Theirs" }))
  /// ```
  ///
  /// Faults strike in the order in which they were asked for, one for each request. An operation of
  /// utility or background quality, the default outside `CKDatabase`'s own methods, tries again by
  /// itself when the network or the server fails: `times` counts attempts.
  ///
  /// - Parameters:
  ///   - user: whose requests; nil means everybody's.
  ///   - device: requests of this device; nil means any.
  ///   - operation: requests of this kind; nil means any but those that come in the background (the
  ///     poll for notifications, and the registration of a device).
  ///   - times: requests that go wrong; `.max` means all until ``removeFaults()``.
  public func fail(
    next fault: TestFault, user: String? = nil, device: String? = nil,
    operation: TestOperation? = nil, times: Int = 1
  ) {
    faults.withLock {
      $0.add(fault, user: user, device: device, operation: operation, times: times)
    }
  }

  /// Lets APNs refuse the next pushes.
  ///
  /// - Parameters:
  ///   - user: pushes to this user; nil means anyone.
  ///   - device: pushes to devices of this name; nil means any.
  ///   - times: pushes that go wrong; `.max` means all until ``removeFaults()``.
  public func fail(
    nextPush fault: TestPushFault, user: String? = nil, device: String? = nil, times: Int = 1
  ) {
    pushFaults.plan.withLock {
      $0.add(fault, user: user, device: device, operation: nil, times: times)
    }
  }

  /// Faults that were asked for and have not struck yet: a test can make sure that all did.
  public var waitingFaults: Int {
    let requests = faults.withLock { $0.count }
    let (sum, overflow) = requests.addingReportingOverflow(pushFaults.plan.withLock { $0.count })
    return overflow ? .max : sum
  }

  /// Lets nothing go wrong any more.
  public func removeFaults() {
    faults.withLock { $0.removeAll() }
    pushFaults.plan.withLock { $0.removeAll() }
  }
}
