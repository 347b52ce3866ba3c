/// The subscriptions of an index by their keys: who saved each, under which ID, at which version, and
/// the numbers of what it asks for.
///
/// The names are bytes in one piece of memory and each subscriber is there once, so that a
/// subscription takes little more than its ID.
struct OwnerTable: Sendable {
  struct Owner: BitwiseCopyable, Sendable {
    let version: Int64
    fileprivate(set) var subscriber: UInt32
    /// Where the subscription's ID begins and how many bytes it has.
    fileprivate var identifier: UInt32
    fileprivate let identifierCount: UInt32
    /// The numbers of what it asks for and, plus one, of what its notifications show.
    fileprivate(set) var content: UInt32
    fileprivate(set) var info: UInt32
    /// Where it is in its entry's list of owners.
    var place: UInt32
  }

  private let hash: ByteHash
  /// There are no gaps: who goes leaves their slot to the last.
  private var owners: [Owner] = []
  private var identifiers = TextMemory()
  private var subscribers: InternedBytes
  private var slots = HashSlots(isDense: true)

  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
    subscribers = InternedBytes(seed: seed)
  }

  var count: Int { owners.count }

  /// The slots that hold an owner.
  var indices: Range<Int32> { 0..<Int32(owners.count) }

  /// - Precondition: The slot holds an owner.
  subscript(slot: Int32) -> Owner {
    @inline(__always) get { owners[Int(slot)] }
    _modify { yield &owners[Int(slot)] }
  }

  func find(_ key: SubscriptionKey) -> Int32? {
    let known = PointValue.visit(key.subscriber) { name -> UInt32? in subscribers.find(name) }
    guard let subscriber = known else { return nil }
    return PointValue.visit(key.subscriptionID) { identifier -> Int32? in
      find(identifier, of: subscriber)
    }
  }

  /// Adds an owner whose key is not there. It is in no list yet.
  mutating func insert(
    _ key: SubscriptionKey, content: UInt32, info: UInt32, version: Int64
  ) -> Int32 {
    let subscriber = PointValue.visit(key.subscriber) { subscribers.use($0).number }
    let slot = Int32(owners.count)
    PointValue.visit(key.subscriptionID) { identifier -> Void in
      owners.append(
        Owner(
          version: version, subscriber: subscriber, identifier: identifiers.append(identifier),
          identifierCount: UInt32(identifier.count), content: content, info: info, place: 0))
      slots.insert(UInt32(slot), hash: hash.hash(identifier, number: UInt64(subscriber)))
    }
    return slot
  }

  /// Removes an owner by putting the last one in its slot.
  ///
  /// - Returns: the one that is there now, which its entry's list must be told; nil when the removed
  ///   one was the last.
  mutating func remove(_ slot: Int32) -> Owner? {
    let owner = owners[Int(slot)]
    slots.remove(UInt32(slot), hash: hash(of: owner))
    subscribers.release(owner.subscriber)
    identifiers.remove(count: owner.identifierCount)
    let last = owners.removeLast()
    let isLast = slot == owners.count
    if !isLast {
      let hash = hash(of: last)
      slots.remove(UInt32(owners.count), hash: hash)
      slots.insert(UInt32(slot), hash: hash)
      owners[Int(slot)] = last
    }
    if owners.isEmpty {
      owners = []
      identifiers = TextMemory()
    } else if identifiers.isWorthMoving {
      moveIdentifiers()
    }
    // A copy has no more memory than it needs.
    if owners.capacity > 3 * owners.count + 256 { owners = owners.map { $0 } }
    if Renumbering.isWorthIt(
      free: subscribers.freeCount, used: subscribers.count, mentions: owners.count)
    {
      renumberSubscribers()
    }
    return isLast ? nil : last
  }

  /// How much memory all takes.
  var bytes: Int { owners.bytes + identifiers.size + subscribers.memoryBytes + slots.bytes }

  /// Notes that what is asked for has other numbers.
  mutating func renumber(contents: Renumbering, infos: Renumbering) {
    for slot in owners.indices {
      owners[slot].content = contents[owners[slot].content]
      if owners[slot].info > 0 { owners[slot].info = infos[owners[slot].info - 1] + 1 }
    }
  }

  /// Leaves out numbers of subscribers who are gone, if most are.
  private mutating func renumberSubscribers() {
    let renumbering = subscribers.renumber()
    slots = HashSlots(isDense: true)
    for slot in owners.indices {
      owners[slot].subscriber = renumbering[owners[slot].subscriber]
      slots.insert(UInt32(slot), hash: hash(of: owners[slot]))
    }
  }

  func key(of slot: Int32) -> SubscriptionKey {
    let owner = owners[Int(slot)]
    return SubscriptionKey(
      subscriber: subscribers.withBytes(of: owner.subscriber) {
        String(decoding: $0, as: UTF8.self)
      },
      subscriptionID: withIdentifier(of: owner) { String(decoding: $0, as: UTF8.self) })
  }

  /// The first eight bytes of the subscriber's name as a number that is ordered as they are.
  func start(of slot: Int32) -> UInt64 {
    subscribers.withBytes(of: owners[Int(slot)].subscriber) { name in
      var start: UInt64 = 0
      for place in 0..<8 { start = start << 8 | UInt64(place < name.count ? name[place] : 0) }
      return start
    }
  }

  /// Whether the key of an owner is before that of another, as ``SubscriptionKey`` orders them.
  func precedes(_ slot: Int32, _ other: Int32) -> Bool {
    let (left, right) = (owners[Int(slot)], owners[Int(other)])
    if left.subscriber != right.subscriber {
      return subscribers.withBytes(of: left.subscriber) { left in
        subscribers.withBytes(of: right.subscriber) { left.lexicographicallyPrecedes($0) }
      }
    }
    return withIdentifier(of: left) { left in
      withIdentifier(of: right) { left.lexicographicallyPrecedes($0) }
    }
  }

  private func find(_ identifier: UnsafeRawBufferPointer, of subscriber: UInt32) -> Int32? {
    let found = slots.find(hash: hash.hash(identifier, number: UInt64(subscriber))) {
      let owner = owners[Int($0)]
      return owner.subscriber == subscriber
        && withIdentifier(of: owner) { $0.elementsEqual(identifier) }
    }
    return found.map { Int32($0) }
  }

  private func hash(of owner: Owner) -> UInt64 {
    withIdentifier(of: owner) { hash.hash($0, number: UInt64(owner.subscriber)) }
  }

  private func withIdentifier<Result>(
    of owner: Owner, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    identifiers.withBytes(at: owner.identifier, count: owner.identifierCount, body)
  }

  private mutating func moveIdentifiers() {
    var moved = identifiers.emptied()
    for slot in owners.indices {
      owners[slot].identifier = moved.append(
        identifiers, owners[slot].identifier, owners[slot].identifierCount)
    }
    identifiers = moved
  }
}
