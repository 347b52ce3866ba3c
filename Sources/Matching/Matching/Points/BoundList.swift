/// A list of candidates in ascending order of a bound.
///
/// A ``Candidate`` is a reference to an entry: the predicate of one or more subscriptions. An entry
/// can be filed by one bound, such as that of `price >= 10`. A value reaches the bounds at the
/// beginning of the list, so matching reads only these elements.
///
/// The elements are in chunks of at most 512, so an insertion moves the elements of only one chunk.
struct BoundList: Sendable {
  /// A candidate with its bound.
  private struct Element: Sendable {
    /// The ordered key of the bound, or its complement for upper bounds.
    var bound: UInt64
    /// The candidate that a value meets when it reaches the bound.
    var candidate: Candidate

    /// Whether the element comes before an element with this bound and this entry.
    func precedes(_ bound: UInt64, _ entry: UInt32) -> Bool {
      self.bound != bound ? self.bound < bound : candidate.entry < entry
    }
  }

  /// The greatest number of elements in a chunk. A longer chunk is split in half.
  private static let chunkLimit = 512

  /// The chunks in ascending order. No chunk is empty.
  private var chunks: [[Element]] = []
  private(set) var count = 0

  /// Adds a candidate. Candidates with equal bounds are in the order of the slots of their entries.
  ///
  /// - Complexity: O(log *n* + 512 + *m*), where *n* is ``count`` and *m* the number of chunks. The
  ///   call moves the elements of one chunk, and sometimes the list of chunks.
  mutating func insert(_ candidate: Candidate, bound: UInt64) {
    count += 1
    let element = Element(bound: bound, candidate: candidate)
    guard !chunks.isEmpty else {
      chunks = [[element]]
      return
    }
    let chunk = min(chunks.count - 1, place(of: bound, candidate.entry))
    chunks[chunk].insert(element, at: place(of: bound, candidate.entry, in: chunk))
    if chunks[chunk].count > Self.chunkLimit {
      let half = chunks[chunk].count / 2
      chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
      chunks[chunk].removeSubrange(half...)
    }
  }

  /// Removes the candidate of an entry. If the list has none with this entry and bound, the call
  /// does nothing.
  ///
  /// - Parameter bound: The bound that the candidate was inserted with.
  /// - Complexity: O(log *n* + 512 + *m*), where *n* is ``count`` and *m* the number of chunks.
  mutating func remove(entry: UInt32, bound: UInt64) {
    let chunk = place(of: bound, entry)
    guard chunk < chunks.count else { return }
    let place = place(of: bound, entry, in: chunk)
    guard place < chunks[chunk].count, chunks[chunk][place].bound == bound,
      chunks[chunk][place].candidate.entry == entry
    else { return }
    count -= 1
    chunks[chunk].remove(at: place)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// Visits the candidates whose bound is at most `bound`, in ascending order.
  ///
  /// - Complexity: O(*m*), where *m* is the number of visited candidates.
  @inline(__always)
  func visit(upTo bound: UInt64, _ visit: (Candidate) -> Void) {
    for chunk in chunks {
      for element in chunk {
        if element.bound > bound { return }
        visit(element.candidate)
      }
    }
  }

  /// The approximate size of the list in bytes.
  var bytes: Int { count * MemoryLayout<Element>.stride * 3 / 2 + chunks.bytes }

  /// Calls `update` with each candidate. `update` must not change the order of the entries.
  ///
  /// - Complexity: O(*n*), where *n* is ``count``.
  mutating func update(_ update: (inout Candidate) -> Void) {
    for chunk in chunks.indices {
      for place in chunks[chunk].indices { update(&chunks[chunk][place].candidate) }
    }
  }

  /// Returns the index of the chunk where an element with this bound and entry belongs; the number
  /// of chunks if it belongs after all of them.
  private func place(of bound: UInt64, _ entry: UInt32) -> Int {
    var low = 0
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      let chunk = chunks[middle]
      if chunk[chunk.count - 1].precedes(bound, entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index in a chunk where an element with this bound and entry belongs.
  private func place(of bound: UInt64, _ entry: UInt32, in chunk: Int) -> Int {
    chunks[chunk].withUnsafeBufferPointer { elements in
      var low = 0
      var high = elements.count
      while low < high {
        let middle = (low + high) / 2
        if elements[middle].precedes(bound, entry) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
