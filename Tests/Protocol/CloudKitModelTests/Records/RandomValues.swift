import CloudKitModel
import Foundation
import PropertyTesting

extension SeededGenerator {
  /// Of any type, often a list, drawn from few values so that two of them often meet.
  mutating func value() -> RecordValue {
    let element = pick(ValueType.allCases)
    guard oneIn(2) else { return value(of: element) }
    return .list(of: element, (0..<pick([0, 1, 2, 3])).map { _ in value(of: element) })
  }

  mutating func value(of type: ValueType) -> RecordValue {
    switch type {
    case .string:
      return .string(
        pick(["", "a", "A", "ab", "the sea", "caf\u{E9}", "cafe\u{301}", "\u{1F30B}"]))
    case .int64: return .int64(pick([0, 1, -1, 1 << 53, 1 << 53 + 1, .max, .min]))
    case .double: return .double(pick(Self.doubles))
    case .timestamp: return .moment(pick([0, -1, 1, .min, .max]))
    case .bytes: return .bytes(Data([pick([0, 1])]))
    case .location: return .place(pick([0, -0.0, 90]), pick([0, 180, -180]))
    case .reference: return .target(pick(["x", "y"]), zone: pick([nil, "work", "home"]))
    case .asset: return .asset(Asset(fileChecksum: pick(["x", "y"]), size: pick([1, 2])))
    }
  }

  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.5, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, -0x1p63,
    .leastNonzeroMagnitude,
  ]
}
