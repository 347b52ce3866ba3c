/// A set of byte strings with use counts, each stored once under a number.
///
/// A number is valid while its use count is positive. Afterwards the number is free, and other
/// bytes may get it.
struct InternedBytes: Sendable {
  /// The place of one byte string in the memory.
  private struct Item: BitwiseCopyable, Sendable {
    var start: UInt32
    var count: UInt32
    /// The use count; 0 when the number is free.
    var users: UInt32
  }

  private let hash: ByteHash
  private var items: [Item] = []
  private var freeNumbers: [UInt32] = []
  private var memory = TextMemory()
  /// The hash table that finds the number of a byte string.
  private var slots = HashSlots(isDense: true)

  /// Creates an empty set.
  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
  }

  var count: Int { items.count - freeNumbers.count }

  /// Returns the number under which these bytes are stored; `nil` if they are not in the set.
  ///
  /// - Complexity: O(*n*) on average, where *n* is the count of the bytes.
  func find(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
    find(bytes, hash: hash.hash(bytes, number: 0))
  }

  /// Counts one more use of the bytes, and stores them if they are new. The caller must call
  /// ``release(_:)`` once for each use.
  ///
  /// - Returns: The number, and whether the bytes are new.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the count of the bytes.
  mutating func use(_ bytes: UnsafeRawBufferPointer) -> (number: UInt32, isNew: Bool) {
    let hash = hash.hash(bytes, number: 0)
    if let known = find(bytes, hash: hash) {
      items[Int(known)].users += 1
      return (known, false)
    }
    let item = Item(start: memory.append(bytes), count: UInt32(bytes.count), users: 1)
    let number = freeNumbers.popLast() ?? UInt32(items.count)
    if number < items.count { items[Int(number)] = item } else { items.append(item) }
    slots.insert(number, hash: hash)
    return (number, true)
  }

  /// Subtracts one use. The last call removes the bytes and frees the number.
  ///
  /// If the memory is then mostly unused (``TextMemory/isWorthMoving``), the call moves the bytes
  /// in use into new memory.
  ///
  /// - Returns: `true` if that was the last use.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the count of the bytes.
  @discardableResult
  mutating func release(_ number: UInt32) -> Bool {
    items[Int(number)].users -= 1
    guard items[Int(number)].users == 0 else { return false }
    slots.remove(number, hash: withBytes(of: number) { hash.hash($0, number: 0) })
    memory.remove(count: items[Int(number)].count)
    freeNumbers.append(number)
    if count == 0 {
      items = []
      freeNumbers = []
      memory = TextMemory()
    } else if memory.isWorthMoving {
      var moved = memory.emptied()
      for place in items.indices where items[place].users > 0 {
        items[place].start = moved.append(memory, items[place].start, items[place].count)
      }
      memory = moved
    }
    return true
  }

  func isUsed(_ number: UInt32) -> Bool { items[Int(number)].users > 0 }

  var freeCount: Int { freeNumbers.count }
  var memoryBytes: Int { items.bytes + freeNumbers.bytes + memory.size + slots.bytes }

  /// Numbers the byte strings anew, without gaps and in the same order. The caller must update each
  /// number that it has stored.
  ///
  /// - Complexity: O(*n*), where *n* is the count of the numbers, the free ones included.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: items.count) { items[$0].users > 0 }
    items = items.filter { $0.users > 0 }
    freeNumbers = []
    slots.renumber(renumbering)
    return renumbering
  }

  /// Calls `body` with the bytes that are stored under a number. The pointer is valid only during
  /// the call.
  func withBytes<Result>(
    of number: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let item = items[Int(number)]
    return try memory.withBytes(at: item.start, count: item.count, body)
  }

  /// Returns the number under which these bytes are stored; `nil` if they are not in the set. The
  /// hash is that of the bytes.
  private func find(_ bytes: UnsafeRawBufferPointer, hash: UInt64) -> UInt32? {
    slots.find(hash: hash) { number in withBytes(of: number) { $0.elementsEqual(bytes) } }
  }
}
