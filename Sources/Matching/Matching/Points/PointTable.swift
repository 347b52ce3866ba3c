/// Facts that a record can have, such as "`author` is ann" or "a word of `title` is sea", each a
/// number: a *point*.
///
/// A point is a path and bytes (``Path``), and lives as long as somebody uses it. Under it stand the
/// entries that need to be looked at when a record has it.
struct PointTable: Sendable {
  /// What every look-up reads.
  struct Point: BitwiseCopyable, Sendable {
    let path: UInt32
    let count: UInt32
    let low: UInt64
    let high: UInt64
    /// Entries that a record with the point may match, and those that it does.
    var candidates = RunList()
    var certain = RunList()

    var isEmpty: Bool { candidates.isEmpty && certain.isEmpty }

    /// Whether the point has the key or, of a key that does not hold its bytes, may have.
    @inline(__always)
    func mayBe(_ key: PointKey) -> Bool {
      low == key.low && high == key.high && path == key.path && count == key.count
    }
  }

  /// What only changes of the index and learning read.
  struct Ledger: BitwiseCopyable, Sendable {
    /// Where the bytes are in the table's memory, if there are more than the point holds.
    fileprivate var start: UInt32 = 0
    /// How often the point was asked for and not given back; 0 when the number is free.
    var users: UInt32 = 1
    /// In how many of the changes that the index learnt from it was met, and how many it had learnt
    /// from before.
    var meetings: UInt32 = 0
    var learntBefore: UInt32 = 0
  }

  private let hash: ByteHash
  private(set) var points: [Point] = []
  private(set) var ledgers: [Ledger] = []
  private var freeNumbers: [UInt32] = []
  /// The bytes of points that are longer than ``PointKey/wholeCount``.
  private var memory: [UInt8] = []
  private var unusedBytes = 0
  private var slots = HashSlots()

  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
  }

  /// How many points there are.
  var count: Int { points.count - freeNumbers.count }

  subscript(point: UInt32) -> Point {
    @inline(__always) get { points[Int(point)] }
    @inline(__always) _modify { yield &points[Int(point)] }
  }

  subscript(ledgerOf point: UInt32) -> Ledger {
    get { ledgers[Int(point)] }
    _modify { yield &ledgers[Int(point)] }
  }

  /// The key under which the bytes are found. They may be gone when it is looked up, if they are
  /// ``PointKey/wholeCount`` or fewer.
  @inline(__always)
  func key(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> PointKey {
    PointKey(bytes, path: path, hash)
  }

  /// Has the place of a key brought near.
  @inline(__always)
  func prefetch(_ key: PointKey) { slots.prefetch(key.hash) }

  /// The point that most likely is that of the key, which ``Point/mayBe(_:)`` tells, without a look at
  /// it; nil when nobody uses the key's point.
  @inline(__always)
  func likely(_ key: PointKey) -> UInt32? { slots.find(hash: key.hash) { _ in true } }

  /// The point of a key that holds its bytes; nil when nobody uses it.
  @inline(__always)
  func find(_ key: PointKey) -> UInt32? {
    slots.find(hash: key.hash) { points[Int($0)].mayBe(key) }
  }

  /// The point, nil when nobody uses it.
  func find(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt32? {
    find(key(bytes, path: path), bytes)
  }

  /// The point, made if it has to be; it must be given back.
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

  /// Gives the point back; it is gone when nobody else uses it.
  ///
  /// - Returns: whether it is gone.
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

  /// How many numbers wait to be used again.
  var freeCount: Int { freeNumbers.count }

  /// How much memory all takes.
  var bytes: Int {
    points.bytes + ledgers.bytes + freeNumbers.bytes + memory.bytes + slots.bytes
  }

  /// Leaves out the numbers that are free; whoever keeps numbers must be told.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: points.count) { ledgers[$0].users > 0 }
    points = points.indices.filter { ledgers[$0].users > 0 }.map { points[$0] }
    ledgers = ledgers.filter { $0.users > 0 }
    freeNumbers = []
    slots.renumber(renumbering)
    return renumbering
  }

  /// Counts half of what was learnt, so that what is learnt from now on counts more.
  mutating func forgetHalf() {
    for point in ledgers.indices {
      ledgers[point].meetings /= 2
      ledgers[point].learntBefore /= 2
    }
  }

  /// Moves the candidates into new runs.
  mutating func moveCandidates(from old: Runs<Candidate>, to new: inout Runs<Candidate>) {
    for point in points.indices where ledgers[point].users > 0 {
      points[point].candidates.move(from: old, to: &new)
    }
  }

  mutating func moveCertain(
    from old: Runs<CertainCandidate>, to new: inout Runs<CertainCandidate>
  ) {
    for point in points.indices where ledgers[point].users > 0 {
      points[point].certain.move(from: old, to: &new)
    }
  }

  /// The bytes of a point.
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
