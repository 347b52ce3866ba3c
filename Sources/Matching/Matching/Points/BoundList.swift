/// Candidates in the order of a bound, so that those whose bound a value reaches are the first.
///
/// They lie in chunks of some hundred: to insert one moves a chunk's, not all.
struct BoundList: Sendable {
  private struct Element: Sendable {
    var bound: UInt64
    var candidate: Candidate

    func precedes(_ bound: UInt64, _ entry: UInt32) -> Bool {
      self.bound != bound ? self.bound < bound : candidate.entry < entry
    }
  }

  private static let chunkLimit = 512

  /// None is empty.
  private var chunks: [[Element]] = []
  private(set) var count = 0

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

  /// Visits the candidates whose bound is at most `bound`.
  @inline(__always)
  func visit(upTo bound: UInt64, _ visit: (Candidate) -> Void) {
    for chunk in chunks {
      for element in chunk {
        if element.bound > bound { return }
        visit(element.candidate)
      }
    }
  }

  /// About how much memory all takes.
  var bytes: Int { count * MemoryLayout<Element>.stride * 3 / 2 + chunks.bytes }

  /// Notes that candidates are others by now, in the same order.
  mutating func update(_ update: (inout Candidate) -> Void) {
    for chunk in chunks.indices {
      for place in chunks[chunk].indices { update(&chunks[chunk][place].candidate) }
    }
  }

  /// The first chunk whose last element is not before this one.
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
