/// The table of the subscriptions of an index, by their keys.
///
/// An element is an *owner*: the subscriber, the ID and version of the subscription, and the
/// numbers of its kind and its notification info in ``ContentTable``. The IDs are bytes in one
/// buffer, and each subscriber's name is stored once. A subscription therefore takes 32 bytes, the
/// bytes of its ID, and a hash slot.
///
/// The owners fill the slots from 0 without gaps. A removal moves the last owner into the slot of
/// the removed one.
struct OwnerTable: Sendable {
  /// One subscription.
  struct Owner: BitwiseCopyable, Sendable {
    /// The version of the save; see ``SubscriptionIndex``.
    let version: Int64
    /// The number of the subscriber's name.
    fileprivate(set) var subscriber: UInt32
    /// The offset of the subscription's ID in the buffer of IDs.
    fileprivate var identifier: UInt32
    /// The number of bytes of the ID.
    fileprivate let identifierCount: UInt32
    /// The number of the subscription's kind in ``ContentTable``.
    fileprivate(set) var content: UInt32
    /// The number of the notification info in ``ContentTable``; 0 for none.
    fileprivate(set) var info: UInt32
    /// The owner's place in the ``OwnerList`` of its entry.
    var place: UInt32
  }

  /// The hash function of keys: of the bytes of the ID and the number of the subscriber.
  private let hash: ByteHash
  private var owners: [Owner] = []
  private var identifiers = TextMemory()
  private var subscribers: InternedBytes
  private var slots = HashSlots(isDense: true)

  /// Creates an empty table.
  init(seed: UInt64) {
    hash = ByteHash(seed: seed)
    subscribers = InternedBytes(seed: seed)
  }

  var count: Int { owners.count }
  var indices: Range<Int32> { 0..<Int32(owners.count) }

  /// - Precondition: The slot holds an owner.
  subscript(slot: Int32) -> Owner {
    @inline(__always) get { owners[Int(slot)] }
    _modify { yield &owners[Int(slot)] }
  }

  /// - Complexity: O(*n*) on average, where *n* is the length of the key in bytes.
  func find(_ key: SubscriptionKey) -> Int32? {
    guard let subscriber = number(ofSubscriber: key.subscriber) else { return nil }
    return PointValue.visit(key.subscriptionID) { identifier -> Int32? in
      find(identifier, of: subscriber)
    }
  }

  func number(ofSubscriber subscriber: String) -> UInt32? {
    PointValue.visit(subscriber) { name -> UInt32? in subscribers.find(name) }
  }

  /// - Precondition: An owner has the subscriber.
  func subscriber(numbered number: UInt32) -> String {
    subscribers.withBytes(of: number) { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the number of the first subscriber of a list who is not in a set; `nil` if all are.
  ///
  /// - Complexity: O(*n*), where *n* is the number of owners before the result.
  func firstSubscriber(
    of list: OwnerList, in runs: borrowing Runs<Int32>, notIn excluded: SubscriberSet
  ) -> UInt32? {
    if list.first < 0 { return nil }
    let subscriber = owners[Int(list.first)].subscriber
    if !excluded.contains(subscriber) { return subscriber }
    if list.second < 0 { return nil }
    let second = owners[Int(list.second)].subscriber
    if !excluded.contains(second) { return second }
    for place in list.rest {
      let subscriber = owners[Int(runs.elements[place])].subscriber
      if !excluded.contains(subscriber) { return subscriber }
    }
    return nil
  }

  /// Adds an owner whose key is not in the table. The caller must then add the slot to the
  /// ``OwnerList`` of the entry, and set ``Owner/place``.
  ///
  /// - Returns: The slot of the owner.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the length of the key in bytes.
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

  /// Removes an owner. The last owner of the table moves into the slot.
  ///
  /// If most of a table is then unused, the call also moves the IDs, shrinks the array of owners,
  /// or numbers the subscribers anew.
  ///
  /// - Returns: The owner that moved into the slot; `nil` if the removed owner was the last of the
  ///   table. The caller must write the new slot into the ``OwnerList`` that has the moved owner.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the length in bytes of the removed
  ///   and the moved key. A call that moves memory takes O(*m*), where *m* is the size of the
  ///   table.
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
    // A copy by `map` has only the capacity that it needs.
    if owners.capacity > 3 * owners.count + 256 { owners = owners.map { $0 } }
    if Renumbering.isWorthIt(
      free: subscribers.freeCount, used: subscribers.count, mentions: owners.count)
    {
      renumberSubscribers()
    }
    return isLast ? nil : last
  }

  var bytes: Int { owners.bytes + identifiers.size + subscribers.memoryBytes + slots.bytes }

  /// Replaces the numbers of kinds (`contents`) and infos after ``ContentTable/renumber()``. An
  /// owner stores the number of an info plus one, because 0 means no info.
  ///
  /// - Complexity: O(*n*), where *n* is the number of owners.
  mutating func renumber(contents: Renumbering, infos: Renumbering) {
    for slot in owners.indices {
      owners[slot].content = contents[owners[slot].content]
      if owners[slot].info > 0 { owners[slot].info = infos[owners[slot].info - 1] + 1 }
    }
  }

  /// Numbers the subscribers anew without gaps. The hashes of the keys depend on these numbers, so
  /// the hash table is made anew too.
  private mutating func renumberSubscribers() {
    let renumbering = subscribers.renumber()
    slots = HashSlots(isDense: true)
    for slot in owners.indices {
      owners[slot].subscriber = renumbering[owners[slot].subscriber]
      slots.insert(UInt32(slot), hash: hash(of: owners[slot]))
    }
  }

  /// - Complexity: O(*n*), where *n* is the length of the key in bytes.
  func key(of slot: Int32) -> SubscriptionKey {
    let owner = owners[Int(slot)]
    return SubscriptionKey(
      subscriber: subscriber(numbered: owner.subscriber),
      subscriptionID: withIdentifier(of: owner) { String(decoding: $0, as: UTF8.self) })
  }

  /// Returns the first eight bytes of the subscriber's name as a big-endian number. The numbers
  /// have the order of the bytes. Zeros fill up a shorter name.
  func start(of slot: Int32) -> UInt64 {
    subscribers.withBytes(of: owners[Int(slot)].subscriber) { name in
      var start: UInt64 = 0
      for place in 0..<8 { start = start << 8 | UInt64(place < name.count ? name[place] : 0) }
      return start
    }
  }

  /// Whether the key of one owner is before the key of another, in the order of
  /// ``SubscriptionKey``.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the keys in bytes.
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

  /// Returns the slot of the owner with these bytes of an ID and this number of a subscriber; `nil`
  /// if there is none.
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

  /// Calls `body` with the bytes of an owner's ID. The pointer is valid only during the call.
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
