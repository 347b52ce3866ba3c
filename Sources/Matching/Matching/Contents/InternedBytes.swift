/// Byte strings, each once, under numbers that stay the same while somebody uses them.
struct InternedBytes: Sendable {
  private struct Item: BitwiseCopyable, Sendable {
    var start: UInt32
    var count: UInt32
    /// 0 when the number is free.
    var users: UInt32
  }

  private let hash: ByteHash
  private var items: [Item] = []
  private var freeNumbers: [UInt32] = []
  private var memory = TextMemory()
  private var slots = HashSlots(isDense: true)

  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
  }

  var count: Int { items.count - freeNumbers.count }

  /// The number of bytes that somebody uses.
  func find(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
    find(bytes, hash: hash.hash(bytes, number: 0))
  }

  /// The number of the bytes, which must be given back, and whether it is new.
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

  /// - Returns: whether nobody uses the number any more.
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

  /// Whether somebody uses a number.
  func isUsed(_ number: UInt32) -> Bool { items[Int(number)].users > 0 }

  /// How many numbers wait to be used again.
  var freeCount: Int { freeNumbers.count }

  /// How much memory all takes.
  var memoryBytes: Int { items.bytes + freeNumbers.bytes + memory.size + slots.bytes }

  /// Leaves out the numbers that are free; whoever keeps numbers must be told.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: items.count) { items[$0].users > 0 }
    items = items.filter { $0.users > 0 }
    freeNumbers = []
    slots.renumber(renumbering)
    return renumbering
  }

  func withBytes<Result>(
    of number: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let item = items[Int(number)]
    return try memory.withBytes(at: item.start, count: item.count, body)
  }

  private func find(_ bytes: UnsafeRawBufferPointer, hash: UInt64) -> UInt32? {
    slots.find(hash: hash) { number in withBytes(of: number) { $0.elementsEqual(bytes) } }
  }
}
