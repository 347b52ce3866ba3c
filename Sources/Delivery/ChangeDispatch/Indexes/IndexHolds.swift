import StoreModel

/// The access control of the matching indexes, as a value: one user at a time for each index, the
/// others in the order of arrival.
struct IndexHolds {
  /// A caller that waits for an index.
  private struct Waiter {
    /// The number of the caller.
    var number: Int
    /// Resumes the caller with whether it has the index now.
    var resume: (Bool) -> Void
  }

  /// The waiting callers of each index in use.
  private var waiters: [DatabasePart: [Waiter]] = [:]
  /// The number of the last waiting caller.
  private var lastNumber = 0

  /// Takes an index that is not in use; false if it is in use.
  mutating func take(_ part: DatabasePart) -> Bool {
    guard waiters[part] == nil else { return false }
    waiters[part] = []
    return true
  }

  /// Waits for an index in use.
  ///
  /// - Parameter resume: Called with whether the caller has the index now.
  /// - Returns: The caller's number, for ``giveUp(_:waitingFor:)``.
  mutating func wait(for part: DatabasePart, _ resume: @escaping (Bool) -> Void) -> Int {
    lastNumber += 1
    waiters[part, default: []].append(Waiter(number: lastNumber, resume: resume))
    return lastNumber
  }

  /// Ends a use, and returns the closure that resumes the next waiting caller; `nil` if none waits.
  /// Call it outside of the lock.
  mutating func end(_ part: DatabasePart) -> (() -> Void)? {
    guard let next = waiters[part]?.first else {
      waiters[part] = nil
      return nil
    }
    waiters[part]?.removeFirst()
    return { next.resume(true) }
  }

  /// Removes a waiting caller, and returns the closure that resumes it; `nil` if it was resumed
  /// already.
  mutating func giveUp(_ number: Int, waitingFor part: DatabasePart) -> (() -> Void)? {
    guard let place = waiters[part]?.firstIndex(where: { $0.number == number }),
      let waiter = waiters[part]?.remove(at: place)
    else { return nil }
    return { waiter.resume(false) }
  }
}
