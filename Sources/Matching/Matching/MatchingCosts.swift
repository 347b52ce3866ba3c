/// The cost of matching some changes, and the subscribers that the matching leaves out.
///
/// Matching by points and bounds costs little. The cost of a *program*, the part of a predicate that
/// is checked for one change after the other, is counted: a word of the program is 1, and a filter
/// that is evaluated directly is 64, as many words as take the same time.
public struct MatchingCosts: Sendable {
  static let filter = 64

  /// The subscribers whose subscriptions are not matched.
  let excluded: SubscriberSet
  let isBySubscriber: Bool
  /// The cost of all programs.
  public private(set) var total = 0
  /// The cost of each subscriber with a cost, by the subscriber's number. The programs of a
  /// predicate that several subscribers share are the cost of one of them.
  public private(set) var bySubscriber: [UInt32: Int] = [:]

  /// Creates costs of 0.
  ///
  /// - Parameters:
  ///   - excluded: The subscribers whose subscriptions are not matched.
  ///   - isBySubscriber: Whether to count the cost of each subscriber, too. It takes about as much
  ///     time as a program of ten words. If somebody is excluded, the costs are always counted so.
  public init(excluding excluded: SubscriberSet = SubscriberSet(), bySubscriber: Bool = false) {
    self.excluded = excluded
    isBySubscriber = bySubscriber || !excluded.isEmpty
  }

  /// Whether the subscription of an owner is left out.
  @inline(__always)
  func excludes(_ owner: @autoclosure () -> OwnerTable.Owner) -> Bool {
    !excluded.isEmpty && excluded.contains(owner().subscriber)
  }

  /// Adds the cost of one program.
  ///
  /// - Parameter payer: The subscriber; `nil` if the costs of each subscriber are not counted.
  @inline(__always)
  mutating func add(_ cost: Int, to payer: UInt32?) {
    total += cost
    if let payer { bySubscriber[payer, default: 0] += cost }
  }
}
