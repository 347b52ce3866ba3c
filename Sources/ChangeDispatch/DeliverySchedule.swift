import Storage

/// Which deliveries are under way, as a value: what may be sent now, and when the store has to be
/// asked for more.
struct DeliverySchedule {
  /// Deliveries that may be under way at once.
  let capacity: Int
  private(set) var underWay: Set<Delivery.ID> = []
  /// Whether the store may hold deliveries that are due and not under way.
  private(set) var isBehind = true
  /// What was finished since the store was asked: it may stand in the answer all the same. Nil when
  /// no answer is awaited.
  private var finishedMeanwhile: Set<Delivery.ID>?
  /// What the last two answers of the store brought: one that was logged just before may come in
  /// memory only afterwards.
  private var loaded: (latest: Set<Delivery.ID>, before: Set<Delivery.ID>) = ([], [])

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Takes in deliveries that were just logged and answers those to send now. One that the store
  /// gave already is left out; when there is no room the rest stays in the store until
  /// ``needsLoading``.
  mutating func admit(_ deliveries: [Delivery]) -> [Delivery] {
    let loaded = loaded
    return admit(deliveries) { loaded.latest.contains($0) || loaded.before.contains($0) }
  }

  /// Takes in the store's answer to ``beginLoading()`` and answers those to send now. What is under
  /// way and what was finished in between is left out.
  mutating func admit(loaded deliveries: [Delivery]) -> [Delivery] {
    let finished = finishedMeanwhile ?? []
    finishedMeanwhile = nil
    let admitted = admit(deliveries) { finished.contains($0) }
    loaded = (latest: Set(admitted.map(\.id)), before: loaded.latest)
    return admitted
  }

  private mutating func admit(
    _ deliveries: [Delivery], except isKnown: (Delivery.ID) -> Bool
  ) -> [Delivery] {
    var admitted: [Delivery] = []
    for delivery in deliveries where !isKnown(delivery.id) {
      guard underWay.count < capacity else {
        isBehind = true
        break
      }
      if underWay.insert(delivery.id).inserted { admitted.append(delivery) }
    }
    return admitted
  }

  /// These are under way no longer: their outcome is in the store.
  mutating func finish(_ ids: some Sequence<Delivery.ID>) {
    for id in ids { underWay.remove(id) }
    finishedMeanwhile?.formUnion(ids)
  }

  /// Whether nothing is under way and the store holds nothing that is due.
  var isSettled: Bool { underWay.isEmpty && !isBehind && finishedMeanwhile == nil }

  /// Whether the store should be asked for due deliveries now.
  var needsLoading: Bool { isBehind && underWay.count <= capacity / 2 }

  /// The store is about to be asked. Answers how many to ask for: what is under way is due in the
  /// store as well and will be among them.
  mutating func beginLoading() -> Int {
    isBehind = false
    finishedMeanwhile = []
    return capacity
  }

  mutating func fallBehind() {
    isBehind = true
  }
}
