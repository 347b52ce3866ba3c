import CloudKitModel

/// What is in the slots that ``SubscriptionIndex/forEachMatch(of:savedBy:using:_:)`` visits. A slot is
/// one subscription's until the index changes; a million take four megabytes.
extension SubscriptionIndex {
  /// The subscriptions in some slots, as they were saved.
  ///
  /// - Complexity: O(sizes of the subscriptions)
  public func matches(inSlots slots: some Sequence<Int32>) -> [SubscriptionMatch] {
    // What many ask for is made once for all of them.
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

  /// The key of the subscription in a slot.
  public func key(inSlot slot: Int32) -> SubscriptionKey { owners.key(of: slot) }

  /// Puts slots in the order of their keys.
  ///
  /// - Complexity: O(*n* log *n*); most keys are told apart by the first bytes of the subscribers'
  ///   names, which are looked up once for each.
  public func sort(_ slots: inout [Int32]) {
    var places = slots.map { (start: owners.start(of: $0), slot: $0) }
    places.sort { left, right in
      left.start == right.start
        ? owners.precedes(left.slot, right.slot) : left.start < right.start
    }
    for (index, place) in places.enumerated() { slots[index] = place.slot }
  }
}
