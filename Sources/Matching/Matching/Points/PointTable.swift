/// The table of *points*: facts that a record can have, each under a number.
///
/// A point is a path and bytes (``Path``), such as "`author` is ann" or "a word of `title` is sea".
/// The table removes a point when its use count becomes 0. Each point has lists of candidates
/// (``Candidate``): references to the entries that matching must examine if a record has the point.
/// An *entry* is the predicate of one or more subscriptions.
struct PointTable: Sendable {
  /// The part of a point that every look-up reads. It takes 40 bytes.
  struct Point: BitwiseCopyable, Sendable {
    /// The number of the path and the kind of the bytes, as in ``PointKey/path``.
    let path: UInt32
    let count: UInt32
    /// The words of the point's ``PointKey``.
    let low: UInt64
    let high: UInt64
    /// The candidates that matching must check.
    var candidates = RunList()
    /// The candidates that fire for every record with the point, without a check.
    var certain = RunList()

    var isEmpty: Bool { candidates.isEmpty && certain.isEmpty }

    /// Whether the point has the key. If the key does not contain all bytes (``PointKey/isWhole``),
    /// a true result may be wrong: the caller must then compare the bytes.
    @inline(__always)
    func mayBe(_ key: PointKey) -> Bool {
      low == key.low && high == key.high && path == key.path && count == key.count
    }
  }

  /// The part of a point that matching does not read: only changes of the index and learning use
  /// it.
  struct Ledger: BitwiseCopyable, Sendable {
    /// The offset of the bytes in the table's ``memory``, if there are more than
    /// ``PointKey/wholeCount``.
    fileprivate var start: UInt32 = 0
    /// The use count; 0 when the number is free.
    var users: UInt32 = 1
    /// The number of learned changes that had the point, with halvings (``forgetHalf()``).
    var meetings: UInt32 = 0
    /// The number of changes from which the index had learned when the point was created, with
    /// halvings.
    var learntBefore: UInt32 = 0
  }

  private let hash: ByteHash
  private(set) var points: [Point] = []
  private(set) var ledgers: [Ledger] = []
  private var freeNumbers: [UInt32] = []
  /// The bytes of the points that are longer than ``PointKey/wholeCount``.
  private var memory: [UInt8] = []
  private var unusedBytes = 0
  private var slots = HashSlots()

  /// Creates an empty table.
  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
  }

  var count: Int { points.count - freeNumbers.count }

  subscript(point: UInt32) -> Point {
    @inline(__always) get { points[Int(point)] }
    @inline(__always) _modify { yield &points[Int(point)] }
  }

  subscript(ledgerOf point: UInt32) -> Ledger {
    get { ledgers[Int(point)] }
    _modify { yield &ledgers[Int(point)] }
  }

  /// Returns the key of some bytes.
  ///
  /// A key of up to ``PointKey/wholeCount`` bytes stays valid when the bytes are gone.
  @inline(__always)
  func key(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> PointKey {
    PointKey(bytes, path: path, hash)
  }

  /// Starts to load the hash slot of a key into the processor's cache.
  @inline(__always)
  func prefetch(_ key: PointKey) { slots.prefetch(key.hash) }

  /// Returns the number of the point that most likely has the key, without access to the point.
  ///
  /// The hash table compares only half of the hash, so the caller must check the point with
  /// ``Point/mayBe(_:)``. `nil` means that no point has the key.
  ///
  /// - Complexity: O(1) on average.
  @inline(__always)
  func likely(_ key: PointKey) -> UInt32? { slots.find(hash: key.hash) { _ in true } }

  /// Returns the number of the point that has a key; `nil` if there is none. The key must contain
  /// all bytes (``PointKey/isWhole``).
  ///
  /// - Complexity: O(1) on average.
  @inline(__always)
  func find(_ key: PointKey) -> UInt32? {
    slots.find(hash: key.hash) { points[Int($0)].mayBe(key) }
  }

  /// - Complexity: O(*n*) on average, where *n* is the count of the bytes.
  func find(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt32? {
    find(key(bytes, path: path), bytes)
  }

  /// Returns the number of the point with this path and these bytes, and counts one more use. If
  /// there is none, creates the point. The caller must call ``release(_:)`` once for each use.
  ///
  /// - Complexity: O(*n*) on average, amortized, where *n* is the count of the bytes.
  mutating func use(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt32 {
    let key = key(bytes, path: path)
    if let known = find(key, bytes) {
      ledgers[Int(known)].users += 1
      return known
    }
    let point = Point(path: path, count: key.count, low: key.low, high: key.high)
    var ledger = Ledger()
    if !key.isWhole {
      ledger.start = UInt32(memory.count)
      memory.append(contentsOf: bytes)
    }
    let number = freeNumbers.popLast() ?? UInt32(points.count)
    if number < points.count {
      points[Int(number)] = point
      ledgers[Int(number)] = ledger
    } else {
      points.append(point)
      ledgers.append(ledger)
    }
    slots.insert(number, hash: key.hash)
    return number
  }

  /// Subtracts one use of a point. The last call removes the point.
  ///
  /// The call then moves the bytes in use into new memory, if more than 4,096 bytes and more than
  /// half of ``memory`` are unused.
  ///
  /// - Returns: `true` if the point was removed.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the count of the bytes.
  @discardableResult
  mutating func release(_ point: UInt32) -> Bool {
    ledgers[Int(point)].users -= 1
    guard ledgers[Int(point)].users == 0 else { return false }
    let path = points[Int(point)].path
    let hash = withBytes(of: point) { PointKey($0, path: path, self.hash).hash }
    slots.remove(point, hash: hash)
    freeNumbers.append(point)
    if points[Int(point)].count > PointKey.wholeCount {
      unusedBytes += Int(points[Int(point)].count)
    }
    if count == 0 {
      points = []
      ledgers = []
      freeNumbers = []
      memory = []
      unusedBytes = 0
    } else if unusedBytes > 4_096, unusedBytes * 2 > memory.count {
      compact()
    }
    return true
  }

  var freeCount: Int { freeNumbers.count }

  var bytes: Int {
    points.bytes + ledgers.bytes + freeNumbers.bytes + memory.bytes + slots.bytes
  }

  /// Numbers the points anew, without gaps and in the same order. The caller must update each
  /// number that it has stored.
  ///
  /// - Complexity: O(*n*), where *n* is the count of the numbers, the free ones included.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: points.count) { ledgers[$0].users > 0 }
    points = points.indices.filter { ledgers[$0].users > 0 }.map { points[$0] }
    ledgers = ledgers.filter { $0.users > 0 }
    freeNumbers = []
    slots.renumber(renumbering)
    return renumbering
  }

  /// Halves ``Ledger/meetings`` and ``Ledger/learntBefore`` of all points, so that later changes
  /// weigh more.
  ///
  /// - Complexity: O(*n*), where *n* is the count of the numbers.
  mutating func forgetHalf() {
    for point in ledgers.indices {
      ledgers[point].meetings /= 2
      ledgers[point].learntBefore /= 2
    }
  }

  /// Moves the lists of candidates from `old` runs into `new` ones.
  ///
  /// - Complexity: O(*n* + *m*), where *n* is the number of points and *m* the number of their
  ///   candidates.
  mutating func moveCandidates(from old: Runs<Candidate>, to new: inout Runs<Candidate>) {
    for point in points.indices where ledgers[point].users > 0 {
      points[point].candidates.move(from: old, to: &new)
    }
  }

  /// Moves the lists of certain candidates from `old` runs into `new` ones.
  ///
  /// - Complexity: O(*n* + *m*), where *n* is the number of points and *m* the number of their
  ///   candidates.
  mutating func moveCertain(
    from old: Runs<CertainCandidate>, to new: inout Runs<CertainCandidate>
  ) {
    for point in points.indices where ledgers[point].users > 0 {
      points[point].certain.move(from: old, to: &new)
    }
  }

  /// Calls `body` with the bytes of a point. The pointer is valid only during the call.
  func withBytes<Result>(
    of point: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let known = points[Int(point)]
    let count = Int(known.count)
    if count <= PointKey.wholeCount {
      return try withUnsafeBytes(of: (known.low, known.high)) {
        try body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
    }
    let start = Int(ledgers[Int(point)].start)
    return try memory.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
    }
  }

  /// Returns the number of the point that has a key; `nil` if there is none. If the key does not
  /// contain all bytes, the method compares `bytes` with the bytes of the point.
  private func find(_ key: PointKey, _ bytes: UnsafeRawBufferPointer) -> UInt32? {
    slots.find(hash: key.hash) { number in
      guard points[Int(number)].mayBe(key) else { return false }
      if key.isWhole { return true }
      return withBytes(of: number) { $0.elementsEqual(bytes) }
    }
  }

  private mutating func compact() {
    var compacted: [UInt8] = []
    compacted.reserveCapacity(memory.count - unusedBytes)
    for number in points.indices
    where ledgers[number].users > 0 && points[number].count > PointKey.wholeCount {
      let (start, count) = (Int(ledgers[number].start), Int(points[number].count))
      ledgers[number].start = UInt32(compacted.count)
      compacted += memory[start..<start + count]
    }
    memory = compacted
    unusedBytes = 0
  }
}
