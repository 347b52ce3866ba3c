/// Random numbers that a seed repeats, so that a failing case can be run again (SplitMix64: Steele,
/// Lea, Flood, OOPSLA 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: some FixedWidthInteger) {
    state = UInt64(truncatingIfNeeded: seed)
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// One of the elements, which must not be empty.
  public mutating func pick<Elements: Collection>(_ elements: Elements) -> Elements.Element {
    elements[
      elements.index(
        elements.startIndex, offsetBy: Int.random(in: 0..<elements.count, using: &self))]
  }

  /// True in `numerator` of `denominator` cases.
  public mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
    Int.random(in: 0..<denominator, using: &self) < numerator
  }
}
