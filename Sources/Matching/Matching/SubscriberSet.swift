/// A set of subscribers of an index, by their numbers. It takes a bit for each number up to the
/// greatest one.
public struct SubscriberSet: Sendable {
  private var words: [UInt64] = []

  /// Creates an empty set.
  public init() {}

  /// Creates a set of numbers.
  public init(_ numbers: some Sequence<UInt32>) {
    for number in numbers { insert(number) }
  }

  /// Whether no subscriber was inserted.
  @inline(__always) public var isEmpty: Bool { words.isEmpty }

  /// Whether a subscriber is in the set.
  @inline(__always)
  public func contains(_ number: UInt32) -> Bool {
    let word = Int(number >> 6)
    return word < words.count && words[word] & 1 << UInt64(number & 63) != 0
  }

  /// Inserts a subscriber. Returns whether it is new.
  @discardableResult
  public mutating func insert(_ number: UInt32) -> Bool {
    let word = Int(number >> 6)
    if word >= words.count { words += repeatElement(0, count: word + 1 - words.count) }
    defer { words[word] |= 1 << UInt64(number & 63) }
    return words[word] & 1 << UInt64(number & 63) == 0
  }
}
