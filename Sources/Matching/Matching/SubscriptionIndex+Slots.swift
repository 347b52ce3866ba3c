import CloudKitModel

/// Access to the subscriptions in the slots that
/// ``SubscriptionIndex/forEachMatch(of:savedBy:using:_:)`` visits.
///
/// A slot is a number of four bytes. It belongs to one subscription until the index changes.
extension SubscriptionIndex {
  /// Returns the subscriptions in these slots, in the order of the slots.
  ///
  /// - Precondition: Each slot holds a subscription.
  /// - Complexity: O(*n*), where *n* is the size of the subscriptions in bytes.
  public func matches(inSlots slots: some Sequence<Int32>) -> [SubscriptionMatch] {
    // Each kind and each notification info is decoded once, even if many subscriptions have it.
    var kinds: [UInt32: Subscription.Kind] = [:]
    var infos: [UInt32: NotificationInfo?] = [:]
    return slots.map { slot in
      let (owner, key) = (owners[slot], owners.key(of: slot))
      let kind = kinds[owner.content] ?? contents.kind(owner.content)
      kinds[owner.content] = kind
      let info = infos[owner.info] ?? contents.info(owner.info)
      infos[owner.info] = info
      return SubscriptionMatch(
        key: key,
        subscription: Subscription(
          subscriptionID: key.subscriptionID, kind: kind, notificationInfo: info),
        version: owner.version, contentNumber: UInt64(owner.content) << 32 | UInt64(owner.info))
    }
  }

  /// Returns the number of a subscriber; `nil` if the subscriber has no subscription. The number
  /// belongs to the subscriber until the index changes.
  public func number(ofSubscriber subscriber: String) -> UInt32? {
    owners.number(ofSubscriber: subscriber)
  }

  /// Returns the key of the subscription in a slot.
  ///
  /// - Precondition: The slot holds a subscription.
  public func key(inSlot slot: Int32) -> SubscriptionKey { owners.key(of: slot) }

  /// Returns the name of the subscriber with a number.
  public func subscriber(numbered number: UInt32) -> String { owners.subscriber(numbered: number) }

  /// Removes the slots of some subscribers.
  public func removeSlots(of subscribers: SubscriberSet, from slots: inout [Int32]) {
    if subscribers.isEmpty { return }
    slots.removeAll { subscribers.contains(owners[$0].subscriber) }
  }

  /// Visits each subscriber of some slots that are sorted by key, with the number of their slots.
  public func forEachSubscriber(
    ofSorted slots: [Int32], _ visit: (_ number: UInt32, _ count: Int) -> Void
  ) {
    var first = 0
    while first < slots.count {
      let number = owners[slots[first]].subscriber
      var end = first + 1
      while end < slots.count, owners[slots[end]].subscriber == number { end += 1 }
      visit(number, end - first)
      first = end
    }
  }

  /// Sorts slots in the order of their keys.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of slots. The method reads the first
  ///   eight bytes of each subscriber's name once. Most comparisons use only these bytes.
  public func sort(_ slots: inout [Int32]) {
    var places = slots.map { (start: owners.start(of: $0), slot: $0) }
    places.sort { left, right in
      left.start == right.start
        ? owners.precedes(left.slot, right.slot) : left.start < right.start
    }
    for (index, place) in places.enumerated() { slots[index] = place.slot }
  }
}
