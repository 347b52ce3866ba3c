import StoreModel

/// Who uses the index of which database or part of one, as a value: one at a time, the others in the order in which they
/// came.
struct IndexHolds {
  /// One that waits.
  private struct Waiter {
    var number: Int
    var resume: (Bool) -> Void
  }

  /// Who waits for each index that is in use.
  private var waiters: [DatabasePart: [Waiter]] = [:]
  private var lastNumber = 0

  /// Takes an index that nobody uses, and says so.
  mutating func take(_ part: DatabasePart) -> Bool {
    guard waiters[part] == nil else { return false }
    waiters[part] = []
    return true
  }

  /// Waits for one that is in use.
  ///
  /// - Parameter resume: is called with whether the index is the caller's now.
  /// - Returns: the waiter's number, to give up by.
  mutating func wait(for part: DatabasePart, _ resume: @escaping (Bool) -> Void) -> Int {
    lastNumber += 1
    waiters[part, default: []].append(Waiter(number: lastNumber, resume: resume))
    return lastNumber
  }

  /// Ends a use, and answers what tells the next one.
  mutating func end(_ part: DatabasePart) -> (() -> Void)? {
    guard let next = waiters[part]?.first else {
      waiters[part] = nil
      return nil
    }
    waiters[part]?.removeFirst()
    return { next.resume(true) }
  }

  /// Takes a waiter out, and answers what tells it; nil when its turn has come already.
  mutating func giveUp(_ number: Int, waitingFor part: DatabasePart) -> (() -> Void)? {
    guard let place = waiters[part]?.firstIndex(where: { $0.number == number }),
      let waiter = waiters[part]?.remove(at: place)
    else { return nil }
    return { waiter.resume(false) }
  }
}
