import Storage

/// Who uses which database's index, as a value: one at a time, the others in the order in which they
/// came.
struct IndexHolds {
  /// One that waits.
  private struct Waiter {
    var number: Int
    var resume: (Bool) -> Void
  }

  /// Who waits for each index that is in use.
  private var waiters: [DatabaseID: [Waiter]] = [:]
  private var lastNumber = 0

  /// Takes an index that nobody uses, and says so.
  mutating func take(_ database: DatabaseID) -> Bool {
    guard waiters[database] == nil else { return false }
    waiters[database] = []
    return true
  }

  /// Waits for one that is in use.
  ///
  /// - Parameter resume: is called with whether the index is the caller's now.
  /// - Returns: the waiter's number, to give up by.
  mutating func wait(for database: DatabaseID, _ resume: @escaping (Bool) -> Void) -> Int {
    lastNumber += 1
    waiters[database, default: []].append(Waiter(number: lastNumber, resume: resume))
    return lastNumber
  }

  /// Ends a use, and answers what tells the next one.
  mutating func end(_ database: DatabaseID) -> (() -> Void)? {
    guard let next = waiters[database]?.first else {
      waiters[database] = nil
      return nil
    }
    waiters[database]?.removeFirst()
    return { next.resume(true) }
  }

  /// Takes a waiter out, and answers what tells it; nil when its turn has come already.
  mutating func giveUp(_ number: Int, waitingFor database: DatabaseID) -> (() -> Void)? {
    guard let place = waiters[database]?.firstIndex(where: { $0.number == number }),
      let waiter = waiters[database]?.remove(at: place)
    else { return nil }
    return { waiter.resume(false) }
  }
}
