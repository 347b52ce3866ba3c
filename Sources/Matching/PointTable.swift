/// Facts that a record can have, such as "`author` is ann" or "a word of `title` is sea", each a
/// number: a *point*.
///
/// A point is a path and bytes (``Path``), and lives as long as somebody uses it. Under it stand the
/// entries that need to be looked at when a record has it.
struct PointTable: Sendable {
  struct Point: Sendable {
    var path: UInt32
    /// Where its bytes are in the table's memory.
    var start: UInt32
    var count: UInt32
    /// How often it was asked for and not given back; 0 when the number is free.
    var users: UInt32 = 0
    /// In how many of the changes that the index learnt from it was met, and how many it had learnt
    /// from before.
    var meetings: UInt32 = 0
    var learntBefore: UInt32 = 0
    var candidates = CandidateList()
  }

  private let hash: ByteHash
  private(set) var points: [Point] = []
  private var freeNumbers: [UInt32] = []
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

  /// The point, nil when nobody uses it.
  @inline(__always)
  func find(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt32? {
    slots.find(hash: hash.hash(bytes, path: path)) { isPoint($0, bytes, path: path) }
  }

  /// The point, made if it has to be; it must be given back.
  mutating func use(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt32 {
    let hash = hash.hash(bytes, path: path)
    if let known = slots.find(hash: hash, { isPoint($0, bytes, path: path) }) {
      points[Int(known)].users += 1
      return known
    }
    let point = Point(
      path: path, start: UInt32(memory.count), count: UInt32(bytes.count), users: 1)
    memory.append(contentsOf: bytes)
    let number = freeNumbers.popLast() ?? UInt32(points.count)
    if number < points.count { points[Int(number)] = point } else { points.append(point) }
    slots.insert(number, hash: hash)
    return number
  }

  /// Gives the point back; it is gone when nobody else uses it.
  ///
  /// - Returns: whether it is gone.
  @discardableResult
  mutating func release(_ point: UInt32) -> Bool {
    points[Int(point)].users -= 1
    let gone = points[Int(point)]
    guard gone.users == 0 else { return false }
    slots.remove(point, hash: hash(of: point))
    freeNumbers.append(point)
    unusedBytes += Int(gone.count)
    if count == 0 {
      points = []
      freeNumbers = []
      memory = []
      unusedBytes = 0
    } else if unusedBytes > 4_096, unusedBytes * 2 > memory.count {
      compact()
    }
    return true
  }

  /// The bytes of a point.
  func withBytes<Result>(
    of point: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let (start, count) = (Int(points[Int(point)].start), Int(points[Int(point)].count))
    return try memory.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
    }
  }

  @inline(__always)
  private func isPoint(
    _ number: UInt32, _ bytes: UnsafeRawBufferPointer, path: UInt32
  ) -> Bool {
    let point = points[Int(number)]
    guard point.path == path, Int(point.count) == bytes.count else { return false }
    return memory.withUnsafeBytes { memory in
      var place = 0
      let start = Int(point.start)
      while place < bytes.count {
        if memory[start + place] != bytes[place] { return false }
        place += 1
      }
      return true
    }
  }

  private func hash(of point: UInt32) -> UInt64 {
    withBytes(of: point) { hash.hash($0, path: points[Int(point)].path) }
  }

  private mutating func compact() {
    var compacted: [UInt8] = []
    compacted.reserveCapacity(memory.count - unusedBytes)
    for number in points.indices where points[number].users > 0 {
      let (start, count) = (Int(points[number].start), Int(points[number].count))
      points[number].start = UInt32(compacted.count)
      compacted += memory[start..<start + count]
    }
    memory = compacted
    unusedBytes = 0
  }
}
