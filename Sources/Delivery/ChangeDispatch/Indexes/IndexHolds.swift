import StoreModel

/// The access control of the matching indexes, as a value. One caller at a time uses an index.
/// Other callers wait, and get the index in the order in which they came.
struct IndexHolds {
  /// A caller that waits for an index.
  private struct Waiter {
    var number: Int
    /// Resumes the caller. The argument says whether the caller has the index now.
    var resume: (Bool) -> Void
  }

  /// The waiting callers of each index in use. An index that is not in use has no element.
  private var waiters: [DatabasePart: [Waiter]] = [:]
  private var lastNumber = 0

  /// Marks an index as in use, and returns true. If it is in use already, returns false.
  mutating func take(_ part: DatabasePart) -> Bool {
    guard waiters[part] == nil else { return false }
    waiters[part] = []
    return true
  }

  /// Adds a caller that waits for an index in use.
  ///
  /// - Parameter resume: Resumes the caller. The argument says whether the caller has the index
  ///   now.
  /// - Returns: The caller's number, for ``giveUp(_:waitingFor:)``.
  mutating func wait(for part: DatabasePart, _ resume: @escaping (Bool) -> Void) -> Int {
    lastNumber += 1
    waiters[part, default: []].append(Waiter(number: lastNumber, resume: resume))
    return lastNumber
  }

  /// Ends a use, and gives the index to the next waiting caller. Returns the closure that resumes
  /// this caller; `nil` if none waits. Call the closure outside of the lock.
  mutating func end(_ part: DatabasePart) -> (() -> Void)? {
    guard let next = waiters[part]?.first else {
      waiters[part] = nil
      return nil
    }
    waiters[part]?.removeFirst()
    return { next.resume(true) }
  }

  /// Removes a waiting caller, and returns the closure that resumes the caller without the index;
  /// `nil` if the caller waits no longer.
  mutating func giveUp(_ number: Int, waitingFor part: DatabasePart) -> (() -> Void)? {
    guard let place = waiters[part]?.firstIndex(where: { $0.number == number }),
      let waiter = waiters[part]?.remove(at: place)
    else { return nil }
    return { waiter.resume(false) }
  }
}
